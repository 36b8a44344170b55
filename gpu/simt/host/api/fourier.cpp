#include "gpu/simt/host/api/fourier.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>

#include <fftw3.h>

namespace plumb::simt {

namespace {

struct Side {
  std::vector<fftw_iodim64> dims;  // n: how many; is: a step, in elements. The last is the batch.
  std::size_t element;             // bytes
};

std::int64_t product(const std::vector<std::int64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{1}, std::multiplies<>());
}

Side side_of(const Fourier& f, bool input, bool in_place) {
  const FourierSide& given = input ? f.in : f.out;
  const bool real = f.kind == (input ? FourierKind::real_to_complex : FourierKind::complex_to_real);
  const std::size_t rank = f.sizes.size();
  std::vector<std::int64_t> counts = f.sizes;
  if (f.kind != FourierKind::complex && !real) counts.back() = counts.back() / 2 + 1;
  std::vector<std::int64_t> embed = given.embed;
  std::int64_t distance = given.distance;
  if (embed.empty()) {
    embed = counts;
    if (real && in_place) embed.back() = 2 * (counts.back() / 2 + 1);
    distance = product(embed);
  }
  Side side{std::vector<fftw_iodim64>(rank + 1),
            (real ? std::size_t{1} : std::size_t{2}) * (f.is_double ? sizeof(double) : sizeof(float))};
  std::int64_t step = given.embed.empty() ? 1 : given.stride;
  for (std::size_t d = rank; d-- > 0; step *= embed[d]) side.dims[d] = {counts[d], step, step};
  side.dims[rank] = {f.batch, distance, distance};
  return side;
}

// The elements of a side as runs without gaps: dimensions that continue each other are one.
std::vector<HostRange> ranges_of(Side side, const void* at, bool writes) {
  std::vector<fftw_iodim64>& dims = side.dims;
  dims.erase(std::remove_if(dims.begin(), dims.end(), [](const fftw_iodim64& d) { return d.n == 1; }),
             dims.end());
  std::sort(dims.begin(), dims.end(),
            [](const fftw_iodim64& a, const fftw_iodim64& b) { return a.is < b.is; });
  std::ptrdiff_t run = 1;
  std::size_t used = 0;
  while (used < dims.size() && dims[used].is == run) run *= dims[used++].n;
  std::vector<HostRange> ranges;
  std::vector<std::ptrdiff_t> index(dims.size());
  for (bool more = true; more;) {
    std::ptrdiff_t offset = 0;
    for (std::size_t d = used; d < dims.size(); ++d) offset += index[d] * dims[d].is;
    ranges.push_back(
        {static_cast<const unsigned char*>(at) + offset * static_cast<std::ptrdiff_t>(side.element),
         static_cast<std::size_t>(run) * side.element, writes});
    more = false;
    for (std::size_t d = used; d < dims.size() && !more; ++d) {
      more = ++index[d] < dims[d].n;
      if (!more) index[d] = 0;
    }
  }
  return ranges;
}

template <class Real>
struct Fftw;
template <>
struct Fftw<double> {
  using Complex = fftw_complex;
  static constexpr auto kPlan = &fftw_plan_guru64_dft;
  static constexpr auto kPlanFromReal = &fftw_plan_guru64_dft_r2c;
  static constexpr auto kPlanToReal = &fftw_plan_guru64_dft_c2r;
  static constexpr auto kExecute = &fftw_execute;
  static constexpr auto kDestroy = &fftw_destroy_plan;
};
template <>
struct Fftw<float> {
  using Complex = fftwf_complex;
  static constexpr auto kPlan = &fftwf_plan_guru64_dft;
  static constexpr auto kPlanFromReal = &fftwf_plan_guru64_dft_r2c;
  static constexpr auto kPlanToReal = &fftwf_plan_guru64_dft_c2r;
  static constexpr auto kExecute = &fftwf_execute;
  static constexpr auto kDestroy = &fftwf_destroy_plan;
};

template <class Real>
bool transform(const Fourier& f, const Side& in_side, const Side& out_side, void* in, void* out, int sign) {
  using Fft = Fftw<Real>;
  using Complex = typename Fft::Complex;
  const int rank = static_cast<int>(f.sizes.size());
  std::vector<fftw_iodim64> dims = in_side.dims;
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d].os = out_side.dims[d].is;
  for (std::size_t d = 0; d < f.sizes.size(); ++d) dims[d].n = f.sizes[d];
  static std::mutex planner;  // FFTW plans on one thread at a time
  const std::lock_guard<std::mutex> lock(planner);
  const auto plan = f.kind == FourierKind::complex
                        ? Fft::kPlan(rank, dims.data(), 1, &dims.back(), static_cast<Complex*>(in),
                                     static_cast<Complex*>(out), sign, FFTW_ESTIMATE)
                    : f.kind == FourierKind::real_to_complex
                        ? Fft::kPlanFromReal(rank, dims.data(), 1, &dims.back(), static_cast<Real*>(in),
                                             static_cast<Complex*>(out), FFTW_ESTIMATE)
                        : Fft::kPlanToReal(rank, dims.data(), 1, &dims.back(), static_cast<Complex*>(in),
                                           static_cast<Real*>(out), FFTW_ESTIMATE);
  if (plan == nullptr) return false;
  Fft::kExecute(plan);
  Fft::kDestroy(plan);
  return true;
}

}  // namespace

std::size_t fourier_bytes(const Fourier& f) {
  return static_cast<std::size_t>(product(f.sizes) * f.batch) *
         (f.is_double ? 2 * sizeof(double) : 2 * sizeof(float));
}

std::vector<HostRange> fourier_reads(const Fourier& f, const void* in, bool in_place) {
  return ranges_of(side_of(f, true, in_place), in, false);
}
std::vector<HostRange> fourier_writes(const Fourier& f, const void* out, bool in_place) {
  return ranges_of(side_of(f, false, in_place), out, true);
}

bool run_fourier(const Fourier& f, const std::vector<HostRange>& reads, const void* in, void* out, int sign) {
  const bool in_place = in == out;
  const Side from = side_of(f, true, in_place), to = side_of(f, false, in_place);
  // FFTW overwrites the input of a transform to real numbers, and has no plan for every layout in place: it gets a copy.
  const auto offset = [&](const HostRange& r) {
    return static_cast<const unsigned char*>(r.at) - static_cast<const unsigned char*>(in);
  };
  std::size_t span = 0;
  for (const HostRange& r : reads) span = std::max(span, static_cast<std::size_t>(offset(r)) + r.bytes);
  std::vector<double> copy(span / sizeof(double) + 1);
  auto* const bytes = reinterpret_cast<unsigned char*>(copy.data());
  for (const HostRange& r : reads) std::memcpy(bytes + offset(r), r.at, r.bytes);
  return f.is_double ? transform<double>(f, from, to, bytes, out, sign)
                     : transform<float>(f, from, to, bytes, out, sign);
}

}  // namespace plumb::simt
