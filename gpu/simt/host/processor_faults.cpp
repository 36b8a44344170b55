// A signal's handler may do next to nothing. So it sends the kernel's thread on to tell_fault(), at the top of that thread's stack, which
// nobody needs any more: the thread does not go on, and what is said there is said outside of the handler.
#include "gpu/simt/host/processor_faults.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include "gpu/simt/host/api/runtime/devices.hpp"
#include "gpu/simt/host/ends.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

#if defined(__x86_64__) || defined(__aarch64__)
namespace {

struct ProcessorFault {
  int signal = 0;  // 0: none yet
  std::uintptr_t address = 0, pc = 0, caller = 0;
  int calls = 0;  // on a stack that is full; 0: it is not
};
ProcessorFault the_fault;
struct sigaction owners_before[NSIG];

#if defined(__x86_64__)
struct Registers {
  greg_t &pc, &sp;
  explicit Registers(ucontext_t& c) : pc(c.uc_mcontext.gregs[REG_RIP]), sp(c.uc_mcontext.gregs[REG_RSP]) {}
  // Where a call just came from.
  std::uintptr_t caller() const { return *reinterpret_cast<const std::uintptr_t*>(sp); }
  void go_on(void (*function)(), unsigned char* top) {
    pc = reinterpret_cast<greg_t>(function);
    sp = static_cast<greg_t>((reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{63}) -
                             8);  // as behind a call
  }
};
#else
struct Registers {
  unsigned long long &pc, &sp, &link;
  explicit Registers(ucontext_t& c)
      : pc(c.uc_mcontext.pc), sp(c.uc_mcontext.sp), link(c.uc_mcontext.regs[30]) {}
  std::uintptr_t caller() const { return link; }
  void go_on(void (*function)(), unsigned char* top) {
    pc = reinterpret_cast<std::uintptr_t>(function);
    sp = reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{63};
  }
};
#endif

bool is_full(const Thread& t, std::uintptr_t address) {
  const auto low = reinterpret_cast<std::uintptr_t>(t.stack_low);
  return address >= low && address < low + kStackGuardBytes;
}

// The address of other signals is the instruction's own.
bool is_of_memory(const ProcessorFault& f) { return f.signal == SIGSEGV || f.signal == SIGBUS; }
bool is_call(const ProcessorFault& f) { return is_of_memory(f) && f.address == f.pc; }
bool is_access(const ProcessorFault& f) { return is_of_memory(f) && f.address != f.pc; }

std::string text_of(const ProcessorFault& f) {
  if (f.signal == SIGFPE)
    return "an integer is divided by 0, or the smallest one by -1, which has no defined value";
  if (f.signal == SIGILL)
    return "no instruction: the compiler found the code here to have no defined meaning";
  if (is_call(f)) return fmt::format("a call of address {:#x}, where no function is", f.address);
  return fmt::format("an access to address {:#x}, where no memory is", f.address);
}

// Counts the calls that have not returned, up to a limit that few kernels reach otherwise than by recursion; halfway stands a call of it.
// From the handler: what lies on the stack tells nothing, since a large array holds what was there before.
constexpr int kDeep = 32;
void count_calls(ProcessorFault& fault) {
  const auto count = [](_Unwind_Context* frame, void* data) {
    auto& f = *static_cast<ProcessorFault*>(data);
    if (++f.calls == kDeep / 2) f.caller = _Unwind_GetIP(frame);
    return f.calls < kDeep ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(count, &fault);
}

constexpr std::size_t kStackKib = (kStackBytes - kStackGuardBytes) / 1024;

// Recursion is what a device has little stack for; arrays of any size it lays out before it begins.
std::string recursion_text(const ProcessorFault& f) {
  constexpr std::size_t kUsual = 1024;
  std::size_t limit = 0;
  cudaDeviceGetLimit(&limit, cudaLimitStackSize);
  if (limit > kUsual || f.calls < kDeep) return "";
  return fmt::format("a recursion fills a stack of {} KiB: a device gives a thread {} B (cudaLimitStackSize)",
                     kStackKib, limit);
}

void tell_fault() {
  Thread& t = *current().schedule.thread;
  const ProcessorFault& f = the_fault;
  const std::string text = f.calls > 0 ? recursion_text(f) : text_of(f);
  if (text.empty()) {
    run_short(fmt::format("a thread of a kernel has {} KiB, and arrays of its own take more", kStackKib),
              "stack");
  } else {
    const std::uintptr_t pc = f.caller != 0 ? f.caller : f.pc + 1;  // the place is looked up one byte before
    note(FindingKind::trap, text, &t, locate(reinterpret_cast<const void*>(pc)));
  }
  the_fault = {};
  stop();
}

bool is_unhandled(const struct sigaction& owner) {
  return (owner.sa_flags & SA_SIGINFO) == 0 && owner.sa_handler == SIG_DFL;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const Thread* const t = current().schedule.thread;
  Registers registers(*static_cast<ucontext_t*>(context));
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto low = t != nullptr ? reinterpret_cast<std::uintptr_t>(t->stack_low) : 0;
  const auto sp = static_cast<std::uintptr_t>(registers.sp);
  const bool full = low != 0 && is_full(*t, address);
  const bool in_kernel = full || (low != 0 && sp >= low + kStackGuardBytes && sp < low + kStackBytes);
  ProcessorFault fault{signal, address, static_cast<std::uintptr_t>(registers.pc), 0, 0};
  // A judge sees the end of a process by an access, and knows which pages it has closed.
  const bool left_to_judge = is_access(fault) && !full && !runs_by_itself();
  if (!in_kernel || left_to_judge || the_fault.signal != 0) {  // it comes again, to whoever had it before
    constexpr std::uintptr_t kNear = 1 << 16;
    const bool is_sent = info->si_code <= 0;
    if (!in_kernel && is_unhandled(owners_before[signal]))
      tell_fault_of_host(signal, !is_sent && signal == SIGSEGV && address - sp + kNear < 2 * kNear);
    sigaction(signal, &owners_before[signal], nullptr);
    if (is_sent) raise(signal);  // no instruction would do it again
    return;
  }
  if (is_call(fault)) fault.caller = registers.caller();
  if (full) count_calls(fault);
  the_fault = fault;
  registers.go_on(&tell_fault, top_of_stack(*t));
}

class SignalStack {
 public:
  SignalStack() {
    stack_t now{};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // the program's own
    bytes_.reset(new (std::nothrow) unsigned char[kBytes]);
    if (bytes_ == nullptr) return;
    stack_t mine{};
    mine.ss_sp = bytes_.get();
    mine.ss_size = kBytes;
    is_mine_ = sigaltstack(&mine, nullptr) == 0;
  }
  ~SignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (is_mine_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t kBytes = std::size_t{256} * 1024;  // what was found is told on it
  // Not in the object, which is a variable of the thread: a library that is loaded late has next to no room for those.
  std::unique_ptr<unsigned char[]> bytes_;
  bool is_mine_ = false;
};

}  // namespace

void give_signal_stack() {
  static thread_local SignalStack stack;
  static_cast<void>(stack);
}

void watch_processor_faults() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_sigaction == &on_fault) continue;
    owners_before[signal] = now;
    struct sigaction mine {};
    mine.sa_sigaction = &on_fault;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &mine, nullptr);
  }
}

#else  // such a fault ends the program by its signal
void give_signal_stack() {}
void watch_processor_faults() {}
#endif

}  // namespace plumb::simt
