// Host entry points of the executor's test kernels. Each kernel exists right and with one planted fault; the
// lines that a finding must name carry a comment of the form `// <- word`.
#pragma once

namespace plumb::simt_test {

/// Which form of a kernel to launch.
enum class Form { right, wrong };

// barriers.cu: in holds blocks * threads values
void tree_sum(Form f, int blocks, int threads, const float* in, float* out);
void tile_columns(Form f, int threads, const float* in, float* out, int reader, int writer);
void tile_epilogue(Form f, int threads, const float* in, float* out, int n);             // mutant 1
void tile_loop(Form f, int threads, const float* in, float* out, int n);                 // mutant 2
void max_then_sum(Form f, int threads, const float* in, float* out);                     // mutant 3
void zero_by_warp_0(Form f, int threads, const int* in, int* out);                       // mutant 4
void one_writes_all_read(Form f, int threads, const int* in, int* out);                  // mutant 5
void early_return(Form f, int blocks, int threads, const float* in, float* out, int n);  // mutant 6
void barrier_in_branch(Form f, int threads, float* out);                                 // mutant 7
void double_buffer(Form f, int threads, const float* in, float* out, int tiles);
void named_barriers(Form f, const int* in, int* out,
                    int rounds);  // 64 threads: warp 0 produces, warp 1 consumes
void shared_flags(Form f, const int* in, int* out, int rounds);  // the same through volatile flags and fences
void barrier_votes(int threads, int* out);                       // 3 ints: count, and, or

// warps.cu
void last_warp(Form f, int threads, const float* in, float* out);  // mutant 8
/// A write and another lane's read with nothing but an exchange between them; how: 0 to 11.
void exchange_as_fence(Form f, const int* in, int* out, int how);
/// Data of block 0 (32), a flag, and 32 results of block 1, whose lane 0 sees the flag.
void told_by_shuffle(Form f, int* data, int* flag, int* out);
void last_warp_volatile(Form f, int threads, const float* in,
                        float* out);                               // mutant 8, as it was written before Volta
void short_mask(Form f, unsigned mask, int* out);                  // mutant 9
void shuffle_from_absent(Form f, const int* in, int* out, int n);  // mutant 10: maximum of n < 32 values
void warp_algebra(int* out);                                       // 32 lanes x 16 results
void exited_lanes(int* out, int n);                     // lanes >= n return before a full-mask reduction
void tiles_of_8(const int* in, int* out, int threads);  // cooperative groups
void coalesced(int* out);
void warp_scan(const double* in, double* out);
void tensor_tf32(const float* a, const float* b, float* c);  // 16x8, 8x8, 16x8 row-major
void tensor_f64(int m, int k, bool whole, const double* a, const double* b,
                double* c);  // m x k, k x 8, m x 8 row-major; not whole: by pieces of 8 x 4

// global.cu
void sum_zeroed_inside(Form f, int blocks, int threads, const float* in, float* out);  // mutant 19
void sum_blocks(Form f, int blocks, int threads, const float* in, float* out);         // mutant 20
void last_block(Form f, int blocks, int threads, const float* in, float* partial, unsigned* count,
                float* out);                                        // mutant 21
void accumulate(Form f, int threads, const float* in, float* out);  // mutant 22
void flag_chain(Form f, int blocks, int* data, int* flags);
void block_scope(Form f, int blocks, unsigned* counter);
void fence_scope(Form f, int* data, unsigned* flag, int* out);  // 2 blocks
void read_by_all(Form f, int blocks, int threads, int n, int* words, unsigned* count, int* out);
void spin_lock(Form f, int blocks, int threads, int* lock, int* value);
void grid_phases(Form f, int blocks, int threads, const int* in, int* mid, int* out);
void counted_readers(Form f, unsigned silent, int* count, int* out);
void two_launches(Form f, int n, int* mid, int* out, void* first_stream, void* second_stream);
// A launch that may begin beside the one before it in its stream (where allowed), behind that one or behind a fill
void programmatic_launch(Form f, int n, int* mid, int* out, bool allowed, bool filled);
void dependent_launch(Form f, int n, int* mid, int* out);
void chain_of_launches(Form f, int n, int* mid, int* out);
// callers.cu: what two callers share that are there at once: nothing, or (wrong) a counter, or memory, of the program
void counted_blocks(Form f, int blocks, int* parts, unsigned* count, int* out, void* stream);
void parts_of_two_launches(Form f, int blocks, int* parts, int* out, void* stream);
// A constant is set before or behind a launch that reads it, in its stream or (wrong) another
void constant_beside(Form f, int n, bool before, int* out);
void locked_sum(int blocks, int* value, void* stream);  // each block adds 1, under a lock of the program

// global.cu
int* own_memory(int n);  // of the program, by cudaMalloc; kept from run to run
void give_back(int* memory);
void bytes_side_by_side(Form f, int threads, unsigned char* out);
void parts_of_words(Form f, int threads, unsigned* out, unsigned* words);
void program_variable(Form f, int blocks, int* out);
void histogram(Form f, int threads, const unsigned char* in, int n, unsigned* bins);  // 16 bins
void raised_flag(Form f, int threads, const int* in, int* out);
void best_of(int threads, const float* in, float* out);
void first_stores(int* flags, int* out);
void fill_then_add(int* data, int n, void* stream);

// rules.cu
void votes_of_the_rest(int threads, int n, int* out);
void last_words(int* out);  // 64 threads
void tried_maximum(bool only_tried, int blocks, int threads, const int* in, int* most);
void tried_pair(int blocks, int threads, int* both);
void exchanges(int* flags, int* out);  // 4 flags
void same_value(int blocks, int* out);
void locked_store(bool is_volatile, bool fence_first, bool fence_last, int* data, int* lock);
void read_by_all(int* one, int* out);  // 32 threads
void volatile_flag(bool ptx, int* data, int* flag, int* out);

// traps.cu
enum class OwnArray {
  written,
  read,
  of_a_variable,
  of_an_element,
  of_the_first_row,
  of_the_last_row,
  its_end
};
void own_array(OwnArray where, int n, const float* in, float* out);
void rows_as_one(
    float* out);  // 32 numbers of the last of four rows of 33 in shared memory, indexed from the first
void shared_overrun(int threads, float* out);
void global_overrun(int threads, const float* in, float* out, int n);
enum class Copying { read, written, moved, filled, of_some_size };
void copies(Copying how, const float* in, float* out, int at);  // of three floats
void assigned(float* out, int at);                              // the same, as a structure
void handed(const float* in, float* out, int at);               // the same, by value to a function
enum class Refused { call, division, recursion, large_array };
void refused(Refused how, const float* in, float* out);  // by the processor, or by the size of a stack
void copies_to_one(float* out, int apart);               // eight threads, three floats each
void write_input(const float* in);
// How bytes are touched: the first five by __builtin_memcpy and its like.
enum class Bytes {
  read,
  written,
  moved,
  filled,
  compared,
  read_by_function,
  filled_by_function,
  compared_by_function,
  assigned,
  placed
};
inline constexpr int kBytesHeld = 64;
/// Touches `bytes` bytes from byte `at` on of an array of kBytesHeld bytes, in shared or global memory; `filled`: it was written before.
void touch_bytes(Bytes how, bool shared, bool filled, unsigned char* global, int* out, int at, int bytes);
void five_bytes_each(bool shared, int apart, unsigned char* out);  // 32 threads
void read_unwritten_shared(int threads, float* out);
void read_unwritten_global(const float* workspace, float* out);
void misaligned_vector(const float* in, float* out, int offset);
void misaligned_copy(const float* in, float* out, int offset);
void waits_for_exited_named(int* out);
void poll_forever(int* flag);
void poll_shared_forever(int* unused);
void wrong_mask_pair(int* out);
void failed_assert(int* out, int value);
void too_many_threads(int* out);
void vote_meets_barrier(int* out);  // 64

// copies.cu: in holds tiles * threads * 4 floats, out one per thread
enum class CopyFault { none, no_wait, commit_after_wait, no_barrier, reused_early };
void pipelined(CopyFault fault, int threads, const float* in, float* out, int tiles);  // mutants 11 and kin
void pipelined_primitives(int threads, const float* in, float* out, int tiles);
void ragged_copy(int threads, const float* in, float* out, int n);
void groups_copy(int threads, const float* in, float* out, int tiles);

// objects.cu
void specialised(Form f, const int* in, int* out, int rounds);  // in: rounds x 64, out: 64
void bulk_tile(Form f, const int* in, int* out);                // 128 each, in 16-byte aligned
int meeting_bytes();
void meetings(Form f, void* meeting, int* parts, int* sum, int* out);  // meeting_bytes(); 3, 1, 6
void semaphores(Form f, int* out);                                     // 2
void ordered_flag(Form f, int* data, int* flag, int* out);
void split_barrier(Form f, int threads, const int* in, int* out);
void wide_tiles(Form f, const int* in, int* out);                         // 256 threads
void large_structures(Form f, int threads, const float* in, float* out);  // 40 floats each
void heap(int mistake, int* out);  // 32; 0: none, 1: beyond, 2: unwritten, 3: freed twice, 4: kept
void heap_full(int* out);          // 32

// legal.cu
void throttled_wait(Form f, int waiting, int* data, int* flag, int* out);
void block_hand_over(Form f, int threads, int* data, int* flag, int* out);  // 2 blocks
void relay(Form f, int* data, int* flags, int* out);                        // 3 blocks, 2 flags
void work_queue(Form f, int blocks, int threads, int* next, int items, int* out);
void aggregated(Form f, int blocks, const int* in, int n, int* count, int* out);  // keeps multiples of 3
void shuffle_scan(Form f, int threads, const int* in, int* out);
void block_pipeline(Form f, int threads, const int* in, int* out, int tiles);
void thread_pipeline(Form f, int threads, const int* in, int* out, int tiles);
void parity_ring(Form f, const int* in, int* out, int rounds);              // in: rounds x 32, out: 96
void ordered_lock(Form f, int blocks, int threads, int* lock, int* words);  // 4 words
void scoped_ticket(Form f, int blocks, unsigned* tickets, unsigned* serving, int* value);
void counted_in(Form f, int blocks, const int* in, int* partial, unsigned* count, int* out);
void grid_ping_pong(Form f, int blocks, int threads, int* a, int* b, int sweeps);
void tile_exchange(Form f, int threads, const int* in, int* out);
void half_warps(Form f, const int* in, int* out);  // in and out: 16
void convergence(Form f, int threads, const int* in, int* out);
void barriers_by_role(Form f, const int* in, int* out, int rounds);  // in: rounds x 32, out: 32
void hash_claims(Form f, const int* in, int n, int* keys, int* values, int* seen);  // 16 keys; in >= 0

// ptx.cu
void ptx_specialised(Form f, const int* in, int* out, int rounds);  // in: rounds x 32, out: 32
void ptx_publish(Form f, int blocks, int* data, unsigned* flag, int* out);
void ptx_count_in(Form f, int blocks, const int* in, int* partial, unsigned* count, int* out);
void ptx_tiles(Form f, const int* in, int* out, int tiles);  // in: tiles x 64, out: 64
constexpr int kPtxNumbers = 34;
void ptx_algebra(const float* in, unsigned* out);  // in: 4, 16-byte aligned; out: 32 x kPtxNumbers

// mbarriers.cu
void mbarrier_ring(Form f, const int* in, int* out, int rounds);  // in: rounds x 32, out: 32
void mbarrier_bulk(Form f, const int* in, int* out, int tiles);   // in: tiles x 64, 16-byte aligned; out: 64
void mbarrier_copies_arrive(Form f, const int* in, int* out, bool counted);  // in: 128; out: 32
void mbarrier_states(const int* in, int* out);                               // in: 64; out: 32
void ptx_loop(int* out);                                                     // 2
void mbarrier_unfinished(const int* in);                                     // 64, as below
void mbarrier_misaligned(const int* in);
void mbarrier_bytes_missing(const int* in, int* out);
void mbarrier_bytes_unannounced(const int* in, int* out);  // 64

// half.cu: pointers are to halves where they are void
void half_sum(Form f, int threads, const void* in, void* out);
void half_pairs(Form f, int threads, void* out);
void half_wide(const void* in, void* out, int threads, int offset, int halves);  // 2 or 8 halves per access
void half_algebra(const void* in, const void* brain, unsigned* out, void* total, void* pairs,
                  void* brains);                   // out: 32 x 12
void half_punned(const float* in, unsigned* out);  // in: 32 x 2, out: 32 x 4
enum class HalfProduct { f16, bf16, f16_in_f16 };
void half_product(HalfProduct what, int k, const unsigned short* a, const unsigned short* b,
                  float* c);  // 16 x k, k x 8, 16 x 8 row-major; onto 1, 2, 3, 4 in each lane
void half_gemm(Form f, const void* a, const void* b, float* c, int k);  // 32 x k, k x 16, 32 x 16 row-major
enum class RowFault { none, no_barrier, misaligned, beyond };
void matrix_rows(RowFault fault, int count, bool transposed, const unsigned short* in,
                 unsigned* out);  // in: 32 x 8; out: 32 x count
enum class WarpProduct { f16_f32, f16_f16, f16_tall, f16_wide, bf16, tf32, f64, s8 };
void warp_product(WarpProduct what, bool a_by_columns, bool b_by_columns, bool c_by_columns, const void* a,
                  const void* b,
                  void* c);  // c += a b + 2; lines of a and b end 16 bytes later, of c 16 elements
void warp_tile(Form f, const void* in, void* out);  // out: twice in's transpose, 16 x 16
void warp_tile_absent(void* out);
void warp_tile_misaligned(const void* in, void* out, int offset);

// groups.cu
void wide_tile(int size, int threads, const int* in, int* out);  // 8 results a thread
void wide_tile_order(Form f, const int* in, int* out);           // 128
void wide_tile_divergent(int* out);
void scans(const int* in, int* out);  // 32; 6 results a thread
void invoke_one(int blocks, int* count);

// elections.cu; kind: a tile, lanes of a warp, a block
void elected_writer(Form f, int* out);  // out: 4
void elected_store(Form f, int* out);   // out: 32
void invoked_writer(Form f, int kind, int* out);
void electorate(const unsigned* masks, unsigned* first, unsigned* second, int* same);  // 32 of each

// numbers.cu
void rounded_intrinsics(const float* x, const double* y, float* f, double* d);  // 3, 4, 16, 10
void packed_intrinsics(const unsigned* x, int* out);                            // 4, 19
void special_functions(const double* x, double* out);                           // 2, 15
void dpx_functions(const int* x, int* out);                                     // 6, 13
void searched_bits(unsigned* out);                                              // 10
void parts_of_words(const unsigned* x, unsigned* out);                          // 2, 16

// limits.cu
int static_shared_bytes();
void static_and_dynamic(int* out, int bytes);          // through the seam; 32
void static_and_dynamic_written(int* out, int bytes);  // as kernel<<<...>>>
const void* static_and_dynamic_address();
void bounded(int threads, int* out);  // __launch_bounds__(128)
void cooperative_blocks(int blocks, int threads, int* out);
int read_first(const int* device);  // as a copy to the host
void shaped(unsigned grid_x, unsigned grid_y, unsigned threads, int* out);
void atomic_sums(const float* terms, float* global, float* shared, double* wide);  // 8, 4, 4, 4
void ptx_sums(const float* terms, float* global, float* shared);                   // 8, 4, 4
void updated(int* sum);
void shifted(int* out);                           // 64
void copies(const int* in, int* out, int apart);  // 96 into 3
void carved(const int* in, int* out);             // 16
void by_fours(const int* in, int* out);           // 64
void hopper_instruction(int which);               // a warp's, of eight that sm_90 was the first to have

// weak.cu: right where memory is strong, lanes stay together and nothing fails for no reason; flags and counters start as zeros
void relaxed_message(Form f, int* data, int* flag, int* out);         // 2 blocks
void volatile_message(Form f, int* data, int* flag, int* out);        // 2 blocks
void look_back(Form f, int blocks, int* sums, int* flags, int* out);  // block b: 1 + ... + (b + 1)
void two_flags(Form f, int* flags, int* inside);                      // 2 blocks, 2 flags; inside <= 1
void locked_count(Form f, int blocks, int* lock, int* count);         // counts its blocks
void hand_made_barrier(Form f, int blocks, int* data, int* arrived,
                       int* out);  // each block: the sum of 1 .. blocks
void acquire_is_no_release(Form f, int* data, int* seen, int* flag, int* out);  // 2 blocks
void branch_sum(Form f, const int* in, int* out);                               // of 32 values, those above 3
void claimed_slots(Form f, int threads, int* slots, int* count);                // counts its threads
void half_of_a_word(Form f, unsigned* word);                                    // 2 blocks
/// Nodes 1 to 2 * blocks + 1 lie on a stack; `owners[0]` ends as 1 where a node has two owners.
void stack_of_nodes(Form form, int blocks, unsigned long long* head, int* next, int* owners);
void slots_of_a_ring(Form f, int blocks, int* ticket, int* ring /* (blocks) */, int* lost);  // lost: none

// warpgroups.cu: wgmma. c is 64 x 16, of words
enum class GroupForm { f16, bf16, f16_turned, tf32, fp8, int8, f16_sums };
void group_form(GroupForm form, int width /* 16: no swizzle, 32, 64, 128 */,
                const unsigned char* a /* 64 x 32 bytes */, const unsigned char* b /* 16 x 32 */,
                unsigned* c);
enum class GroupFault {
  none,
  refilled,  // no fault: a warp that has waited for a product may overwrite what the others' parts of it read
  no_wait,
  no_proxy_fence,
  no_fence,
  written_early,
  stride,
  missing_warp,
  other_product
};
void group_loop(GroupFault fault, const float* a /* 64 x 8 chunks */, const float* b /* 8 chunks x 16 */,
                float* c, int chunks);
void group_unfinished(const float* a, float* c);  // 128, 128

// tensors.cu: copies by tensor maps, of a tensor of floats (5, 12, 20), boxes of (2, 4, 8), from and to the same place
enum class TileFault { none, no_wait, too_few_bytes, too_many_bytes, no_proxy_fence, no_read_wait, unwaited };
void tensor_tiles(TileFault fault, int swizzle /* 0, 1 for 32 bytes */, bool nan, const float* in,
                  float* seen /* 64 */, float* out, int x, int y, int z);
bool refused_tensor_maps();
/// Each of `blocks` blocks of 64 threads adds its row of `in` to `out`, by cp.reduce.async.bulk of a run, or of a box by a tensor map.
enum class AddFault { none, no_proxy_fence, no_read_wait, unwaited, plain_reader };
void bulk_add(AddFault fault, bool by_map, const float* in, float* out, int blocks);
/// Every operation on each of its types: `out` has 16 bytes for each, in the order of the kernel.
void bulk_reduce_each(const unsigned* in, unsigned* out);
constexpr int kBulkReductions = 9;

// parts.cu: tiles whose sums `parts` blocks of 32 threads make, 4 sums a thread; twice
void joined_parts(int tiles, int parts, const float* in /* (tiles, parts, 128) */, float* partial /* as in */,
                  unsigned* finished /* (tiles) */, float* out /* (tiles, 128) */);

/// What a block makes of a tile: stages [first, first + stages), part `part` of `parts`.
struct ListedPart {
  int tile, first, stages, part, parts;
};
/// The most parts that a tile has where `streams` share the stages of `rest` tiles; 0 where they would have hardly any.
int most_parts_by_streams(int rest, int stages, int streams);
/// The parts of `tiles` tiles of `stages` stages: the first `whole` by a block each, the rest by `streams` blocks that share their stages.
void listed_parts(int tiles, int whole, int stages, int streams, ListedPart* out, int* count /* 0 before */);
/// Of a product in tiles of 64 x 64 by streams: the most parts of a tile, floats of their sums, and counts.
struct SizesOfStreams {
  int most_parts, sums, counts;
};
SizesOfStreams sizes_of_streams(int m, int n, int k, int whole, int streams);
/// C = A B, twice, by rung 21's kernel of streams; where `finished` is null its parts are added by a kernel of their own.
void product_by_streams(int m, int n, int k, int whole, int streams, const float* a /* (m, k) */,
                        const float* b /* (k, n) */, float* c /* (m, n) */, float* partial,
                        unsigned* finished /* 0 before, or null */);

// written.cu: launches as a user writes them
void written_launches(const float* in, float* out, int n);

}  // namespace plumb::simt_test
