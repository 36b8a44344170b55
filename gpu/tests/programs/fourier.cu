// cuFFT's calls give the sums that a discrete Fourier transform is, in one to three dimensions, packed and with gaps, in place and not.
#include <cufft.h>
#include <cufftXt.h>

#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using Complex = std::complex<double>;

// Sizes without dimensions are 1. What lies between the elements is never touched.
struct Case {
  int rank, n[3], batch;
  bool real, in_place, gaps;
};

struct Side {
  int embed[3], stride, distance;
  int at(int b, int i, int j, int k) const {
    return b * distance + stride * ((i * embed[1] + j) * embed[2] + k);
  }
};

Side side_of(const Case& c, bool is_real) {
  Side s{{c.n[0], c.n[1], c.n[2]}, 1, 0};
  if (c.real && !is_real) s.embed[2] = c.n[2] / 2 + 1;
  if (c.real && is_real && c.in_place) s.embed[2] = 2 * (c.n[2] / 2 + 1);
  if (c.gaps) s.embed[2] += 2, s.stride = 2;
  s.distance = s.stride * s.embed[0] * s.embed[1] * s.embed[2] + (c.gaps ? 3 : 0);
  return s;
}

template <class Real>
struct Calls;
template <>
struct Calls<float> {
  static constexpr cufftType kComplex = CUFFT_C2C, kFromReal = CUFFT_R2C, kToReal = CUFFT_C2R;
  static cufftResult run(cufftHandle p, void* in, void* out, int direction) {
    return cufftXtExec(p, in, out, direction);
  }
  static cufftResult from_real(cufftHandle p, void* in, void* out) {
    return cufftExecR2C(p, static_cast<float*>(in), static_cast<cufftComplex*>(out));
  }
  static cufftResult to_real(cufftHandle p, void* in, void* out) {
    return cufftExecC2R(p, static_cast<cufftComplex*>(in), static_cast<float*>(out));
  }
};
template <>
struct Calls<double> {
  static constexpr cufftType kComplex = CUFFT_Z2Z, kFromReal = CUFFT_D2Z, kToReal = CUFFT_Z2D;
  static cufftResult run(cufftHandle p, void* in, void* out, int direction) {
    return cufftExecZ2Z(p, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleComplex*>(out),
                        direction);
  }
  static cufftResult from_real(cufftHandle p, void* in, void* out) {
    return cufftExecD2Z(p, static_cast<double*>(in), static_cast<cufftDoubleComplex*>(out));
  }
  static cufftResult to_real(cufftHandle p, void* in, void* out) {
    return cufftExecZ2D(p, static_cast<cufftDoubleComplex*>(in), static_cast<double*>(out));
  }
};

template <class Body>
void each(const Case& c, Body body) {
  for (int b = 0; b < c.batch; ++b)
    for (int i = 0; i < c.n[0]; ++i)
      for (int j = 0; j < c.n[1]; ++j)
        for (int k = 0; k < c.n[2]; ++k) body(b, i, j, k);
}

double turn(const Case& c, int i, int j, int k, int x, int y, int z) {
  return 2 * 3.14159265358979323846 *
         (double(i * x % c.n[0]) / c.n[0] + double(j * y % c.n[1]) / c.n[1] +
          double(k * z % c.n[2]) / c.n[2]);
}

cufftHandle plan_of(const Case& c, const Side& from, const Side& to, cufftType type) {
  cufftHandle plan = 0;
  int n[3], in[3], out[3];
  for (int d = 0; d < c.rank; ++d) {
    n[d] = c.n[3 - c.rank + d], in[d] = from.embed[3 - c.rank + d], out[d] = to.embed[3 - c.rank + d];
  }
  if (c.gaps) {
    cufftPlanMany(&plan, c.rank, n, in, from.stride, from.distance, out, to.stride, to.distance, type,
                  c.batch);
  } else if (c.rank == 3 && c.batch > 1) {
    const bool single = type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R;
    const cudaDataType real = single ? CUDA_R_32F : CUDA_R_64F, complex = single ? CUDA_C_32F : CUDA_C_64F;
    const bool from_real = type == CUFFT_R2C || type == CUFFT_D2Z,
               to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    long long wide[] = {n[0], n[1], n[2]};
    size_t bytes = 0;
    cufftCreate(&plan);
    cufftXtMakePlanMany(plan, c.rank, wide, nullptr, 1, 0, from_real ? real : complex, nullptr, 1, 0,
                        to_real ? real : complex, c.batch, &bytes, complex);
  } else if (c.rank == 1) {
    cufftPlan1d(&plan, n[0], type, c.batch);
  } else if (c.batch > 1) {
    cufftPlanMany(&plan, c.rank, n, nullptr, 1, 0, nullptr, 1, 0, type, c.batch);
  } else if (c.rank == 2) {
    cufftPlan2d(&plan, n[0], n[1], type);
  } else {
    cufftPlan3d(&plan, n[0], n[1], n[2], type);
  }
  return plan;
}

// There, against the sums, and back, against the values that came in.
template <class Real>
bool is_right(const Case& c) {
  const Side real = side_of(c, true), complex = side_of(c, false);
  const int first = c.real ? 1 : 2;  // numbers of an element of the first side
  std::vector<Real> in(size_t(real.distance) * c.batch * first + 8), out;
  std::vector<Real> wanted(size_t(complex.distance) * c.batch * 2 + 8, Real(-7));
  if (c.in_place) wanted.resize(std::max(wanted.size(), in.size()), Real(-7));
  in.resize(wanted.size(), 0);
  std::fill(in.begin(), in.end(), Real(-7));
  unsigned state = 1;
  each(c, [&](int b, int i, int j, int k) {
    for (int part = 0; part < first; ++part) {
      state = state * 1664525u + 1013904223u;
      in[first * real.at(b, i, j, k) + part] = Real(int(state >> 20) - 2048) / 1024;
    }
  });
  out = in;
  each(c, [&](int b, int i, int j, int k) {
    if (c.real && k > c.n[2] / 2) return;
    Complex sum = 0;
    Case one = c;
    one.batch = 1;
    each(one, [&](int, int x, int y, int z) {
      const int at = first * real.at(b, x, y, z);
      sum += Complex(in[at], c.real ? 0 : in[at + 1]) * std::polar(1.0, -turn(c, i, j, k, x, y, z));
    });
    wanted[2 * complex.at(b, i, j, k)] = Real(sum.real());
    wanted[2 * complex.at(b, i, j, k) + 1] = Real(sum.imag());
  });

  Real *source, *target, *back;
  const size_t bytes = in.size() * sizeof(Real);
  cudaMalloc(&source, bytes), cudaMalloc(&target, bytes), cudaMalloc(&back, bytes);
  cudaMemcpy(source, in.data(), bytes, cudaMemcpyHostToDevice);
  std::fill(out.begin(), out.end(), Real(-7));
  cudaMemcpy(target, out.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(back, out.data(), bytes, cudaMemcpyHostToDevice);
  if (c.in_place) target = back = source;
  const cufftHandle there =
      plan_of(c, real, complex, c.real ? Calls<Real>::kFromReal : Calls<Real>::kComplex);
  const cufftHandle again = plan_of(c, complex, real, c.real ? Calls<Real>::kToReal : Calls<Real>::kComplex);
  const cufftResult one = c.real ? Calls<Real>::from_real(there, source, target)
                                 : Calls<Real>::run(there, source, target, CUFFT_FORWARD);
  cudaMemcpy(out.data(), target, bytes, cudaMemcpyDeviceToHost);
  const cufftResult two = c.real ? Calls<Real>::to_real(again, target, back)
                                 : Calls<Real>::run(again, target, back, CUFFT_INVERSE);
  std::vector<Real> returned(in.size());
  cudaMemcpy(returned.data(), back, bytes, cudaMemcpyDeviceToHost);
  cufftDestroy(there), cufftDestroy(again);

  // count terms of at most 4 (a part of a complex product), each of count roundings
  const double count = double(c.n[0]) * c.n[1] * c.n[2],
               near = 4 * count * std::numeric_limits<Real>::epsilon();
  double worst = one != CUFFT_SUCCESS || two != CUFFT_SUCCESS ? 1e30 : 0;
  for (size_t i = 0; i < out.size() && !c.in_place; ++i)
    worst = std::max(worst, std::abs(double(out[i]) - wanted[i]));
  each(c, [&](int b, int i, int j, int k) {
    for (int part = 0; part < 2 && (!c.real || k <= c.n[2] / 2); ++part) {
      const int at = 2 * complex.at(b, i, j, k) + part;
      worst = std::max(worst, std::abs(double(out[at]) - wanted[at]));
    }
    for (int part = 0; part < first; ++part) {
      const int at = first * real.at(b, i, j, k) + part;
      worst = std::max(worst, std::abs(returned[at] / count - in[at]));
    }
  });
  if (worst < near * count) return true;
  std::printf(
      "%zu bytes, rank %d, %d x %d x %d, batch %d, real %d, in place %d, gaps %d: off by %g (%d, %d)\n",
      sizeof(Real), c.rank, c.n[0], c.n[1], c.n[2], c.batch, c.real, c.in_place, c.gaps, worst, one, two);
  return false;
}

bool all_are_right() {
  bool right = true;
  const int sizes[][3] = {{1, 1, 1}, {1, 1, 8}, {1, 1, 15}, {1, 4, 6}, {1, 5, 7}, {3, 2, 4}, {2, 3, 5}};
  for (const auto& n : sizes) {
    const int rank = n[0] > 1 ? 3 : n[1] > 1 ? 2 : 1;
    for (int what = 0; what < 16; ++what) {
      const Case c{rank,           {n[0], n[1], n[2]}, what & 8 ? 3 : 1, (what & 1) != 0, (what & 2) != 0,
                   (what & 4) != 0};
      right = is_right<float>(c) && right;
      right = is_right<double>(c) && right;
    }
  }
  return right;
}

// Statuses, and a working space of the program's own.
bool answers_are_right() {
  cufftHandle plan = 0;
  int n[] = {8};
  bool right = cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE &&
               cufftPlan1d(&plan, 8, static_cast<cufftType>(7), 1) == CUFFT_INVALID_TYPE &&
               cufftPlanMany(&plan, 4, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE;
  cufftComplex* data;
  cudaMalloc(&data, 8 * sizeof *data);
  cudaMemset(data, 0, 8 * sizeof *data);
  size_t bytes = 0, same = 0;
  right = right && cufftCreate(&plan) == CUFFT_SUCCESS &&
          cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_INVALID_PLAN &&
          cufftSetAutoAllocation(plan, 0) == CUFFT_SUCCESS &&
          cufftMakePlan1d(plan, 8, CUFFT_C2C, 1, &bytes) == CUFFT_SUCCESS &&
          cufftGetSize(plan, &same) == CUFFT_SUCCESS && same == bytes &&
          cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_NO_WORKSPACE &&
          cufftExecC2C(plan, data, data, 5) == CUFFT_INVALID_VALUE &&
          cufftExecR2C(plan, reinterpret_cast<float*>(data), data) == CUFFT_INVALID_TYPE;
  void* space;
  cudaMalloc(&space, bytes);
  return right && cufftSetWorkArea(plan, space) == CUFFT_SUCCESS &&
         cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_SUCCESS &&
         cufftDestroy(plan) == CUFFT_SUCCESS && cufftDestroy(plan) == CUFFT_INVALID_PLAN;
}

__global__ void scaled(float2* data, int n) {
  const int i = threadIdx.x;
  if (i < n) data[i].x /= n;
}

// early: another stream takes the result. outside: the rows of a real array in place have no room for the complex ones.
void go_wrong(bool early) {
  constexpr int kCount = 64;
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cufftHandle plan;
  cufftPlan1d(&plan, kCount, early ? CUFFT_C2C : CUFFT_R2C, 1);
  cufftSetStream(plan, one);
  float2* data;
  const size_t bytes = early ? kCount * sizeof(float2) : kCount * sizeof(float);
  cudaMalloc(&data, bytes);
  cudaMemset(data, 0, bytes);
  cudaDeviceSynchronize();
  if (early) {
    cufftExecC2C(plan, data, data, CUFFT_FORWARD);
    scaled<<<1, kCount, 0, other>>>(data, kCount);
  } else {
    cufftExecR2C(plan, reinterpret_cast<float*>(data), data);
  }
  cudaDeviceSynchronize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return go_wrong(std::strcmp(argv[1], "early") == 0), 0;
  return all_are_right() && answers_are_right() ? 0 : 3;
}
