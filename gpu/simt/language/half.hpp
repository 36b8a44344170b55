// __half and __nv_bfloat16 with their pairs, and CUDA's functions on them, for the CPU executor and for host code alike: what
// <cuda_fp16.h> and <cuda_bf16.h> stand for. Every operation rounds once, to nearest even unless its name says otherwise, and every
// NaN it makes is 0x7fff. small_float.inc is read once per format: CUDA names the functions of both alike.
#pragma once
#define __CUDA_FP16_H__  // what CUDA's headers ask for that bring these along
#define __CUDA_BF16_H__
#include <cmath>
#include <cstring>

#include "gpu/simt/language/half_bits.hpp"
#include "gpu/simt/language/vector_types.hpp"

#define PLUMB_JOIN3_(a, b, c) a##b##c
#define PLUMB_JOIN3(a, b, c) PLUMB_JOIN3_(a, b, c)
#define PLUMB_JOIN5_(a, b, c, d, e) a##b##c##d##e
#define PLUMB_JOIN5(a, b, c, d, e) PLUMB_JOIN5_(a, b, c, d, e)
#define PLUMB_NAME(before, after) PLUMB_JOIN3(before, PLUMB_SMALL_NAME, after)
#define PLUMB_NAME_TWICE(before, between, after) \
  PLUMB_JOIN5(before, PLUMB_SMALL_NAME, between, PLUMB_SMALL_NAME, after)

#define PLUMB_SMALL __half
#define PLUMB_SMALL2 __half2
#define PLUMB_SMALL_RAW __half_raw
#define PLUMB_SMALL2_RAW __half2_raw
#define PLUMB_SMALL_NAME half
#define PLUMB_SMALL_FORMAT ::plumb::simt::Half
#include "gpu/simt/language/small_float.inc"
using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define PLUMB_SMALL __nv_bfloat16
#define PLUMB_SMALL2 __nv_bfloat162
#define PLUMB_SMALL_RAW __nv_bfloat16_raw
#define PLUMB_SMALL2_RAW __nv_bfloat162_raw
#define PLUMB_SMALL_NAME bfloat16
#define PLUMB_SMALL_FORMAT ::plumb::simt::Brain
#include "gpu/simt/language/small_float.inc"
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#undef PLUMB_NAME
#undef PLUMB_NAME_TWICE
#undef PLUMB_JOIN3
#undef PLUMB_JOIN3_
#undef PLUMB_JOIN5
#undef PLUMB_JOIN5_

#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
