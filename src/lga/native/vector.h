// A register full of floats, and the few functions that the kernels need of it.
//
// The types are the compiler's own vector types. All of it is inline and lives in a namespace of its instruction set,
// because this header is compiled once for each (see kernels.cc).

#pragma once

#include <cstdint>
#include <cstring>

#include "kernels.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace lga {
namespace LGA_INSTRUCTION_SET {

#if defined(__AVX512F__)
constexpr int64_t kLanes = 16;
#elif defined(__AVX__)
constexpr int64_t kLanes = 8;
#else
constexpr int64_t kLanes = 4;
#endif

typedef float Floats __attribute__((vector_size(4 * kLanes)));
typedef int32_t Ints __attribute__((vector_size(4 * kLanes)));
typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));

// Scratch memory is padded to whole vectors.
inline int64_t padded(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

inline Floats all(float value) { return Floats{} + value; }
inline Words all(uint32_t value) { return Words{} + value; }

inline Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void store(float* to, Floats value) { std::memcpy(to, &value, sizeof value); }

// The first `count` lanes only: memory beyond them is neither read nor written.
inline Floats load_some(const float* from, int64_t count) {
#ifdef __AVX512F__
  return reinterpret_cast<Floats>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from));
#else
  Floats value{};
  std::memcpy(&value, from, count * sizeof(float));
  return value;
#endif
}

inline void store_some(float* to, Floats value, int64_t count) {
#ifdef __AVX512F__
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), reinterpret_cast<__m512>(value));
#else
  std::memcpy(to, &value, count * sizeof(float));
#endif
}

inline Words bits(Floats value) { return reinterpret_cast<Words>(value); }
inline Floats floats(Words value) { return reinterpret_cast<Floats>(value); }

inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }

// 0, 1, 2, ...
inline Words lane_index() {
  Words index;
  for (int64_t lane = 0; lane < kLanes; ++lane) index[lane] = static_cast<uint32_t>(lane);
  return index;
}

// Halves are combined until one number is left: a fixed order, so the result is the same wherever it is computed.
template <typename Combine>
inline float reduce(Floats value, Combine combine) {
#ifdef __AVX512F__
  const __m512 sixteen = reinterpret_cast<__m512>(value);
  const __m256 low = _mm512_castps512_ps256(sixteen), high = _mm512_extractf32x8_ps(sixteen, 1);
  const __m256 eight = combine(low, high);
  const __m128 four = combine(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = combine(four, _mm_movehl_ps(four, four));
  return combine(two, _mm_movehdup_ps(two))[0];
#else
  float lanes[kLanes];
  store(lanes, value);
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] = combine(lanes[lane], lanes[lane + half]);
  return lanes[0];
#endif
}

inline float sum(Floats value) {
  return reduce(value, [](auto a, auto b) { return a + b; });
}
inline float largest(Floats value) {
  return reduce(value, [](auto a, auto b) { return a > b ? a : b; });
}
inline float smallest(Floats value) {
  return reduce(value, [](auto a, auto b) { return a < b ? a : b; });
}

inline Floats square_root(Floats x) {
  float lanes[kLanes];
  store(lanes, x);
  for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = __builtin_sqrtf(lanes[lane]);
  return load(lanes);
}

// To the nearest whole number, for |x| < 2^22: adding 1.5 * 2^23 pushes the fraction out of the mantissa.
inline Floats nearest(Floats x) {
  const float shift = 12582912.0f;
  return (x + shift) - shift;
}

// exp(rest) * 2^twos, where |rest| <= ln(2) / 2: what all exponentials below have in common.
struct Reduced {
  Floats mantissa, twos;
};

inline Reduced reduced_exponential(Floats x) {
  const Floats twos = nearest(x * 1.44269504f);
  // ln 2 in two parts: the first has so few digits that its product is exact.
  const Floats rest = (x - twos * 0.693359375f) + twos * 2.12194440e-4f;
  // Fitted to (exp(r) - 1 - r) / r^2: relative error of the exponential 3e-9.
  Floats tail = all(0.00138144672f);
  tail = tail * rest + 0.00836878084f;
  tail = tail * rest + 0.0416683927f;
  tail = tail * rest + 0.166665196f;
  tail = tail * rest + 0.49999994f;
  return {(tail * rest) * rest + rest + 1.0f, twos};
}

inline Floats power_of_two(Ints whole) { return reinterpret_cast<Floats>((whole + 127) << 23); }

// exp(x) for x <= 0, as softmax needs it; zero where it would be no normal float.
inline Floats exponential_of_negative(Floats x) {
  constexpr float kLowest = -87.0f;
  const Reduced reduced = reduced_exponential(larger(x, all(kLowest)));
#ifdef __AVX512F__
  const Floats value = reinterpret_cast<Floats>(
      _mm512_scalef_ps(reinterpret_cast<__m512>(reduced.mantissa), reinterpret_cast<__m512>(reduced.twos)));
#else
  const Floats value = reduced.mantissa * power_of_two(__builtin_convertvector(reduced.twos, Ints));
#endif
  return x < kLowest ? Floats{} : value;
}

// exp(x) for any x; infinite where it is larger than the floats.
inline Floats exponential(Floats x) {
  const Reduced reduced = reduced_exponential(smaller(larger(x, all(-87.0f)), all(89.0f)));
  // 2^128 is no float, so the power of two is applied in two halves.
  const Ints whole = __builtin_convertvector(reduced.twos, Ints);
  const Ints half = whole >> 1;
  const Floats value = reduced.mantissa * power_of_two(half) * power_of_two(whole - half);
  return x < -87.0f ? Floats{} : value;
}

// To the last digit of 1, not of a small result.
inline Floats hyperbolic_tangent(Floats x) {
  const Floats shrunk = exponential_of_negative(x < 0.0f ? 2.0f * x : -2.0f * x);
  const Floats size = (1.0f - shrunk) / (1.0f + shrunk);
  return x < 0.0f ? -size : size;
}

// 1 / (1 + exp(-x)).
inline Floats sigmoid(Floats x) {
  const Floats shrunk = exponential_of_negative(x < 0.0f ? x : -x);
  return (x < 0.0f ? shrunk : all(1.0f)) / (1.0f + shrunk);
}

// log(x) for positive, normal x.
inline Floats logarithm(Floats x) {
  // x = 2^twos * m with m in [sqrt(1/2), sqrt(2)).
  const Words shifted = bits(x) - 0x3f3504f3u;
  const Ints whole = reinterpret_cast<Ints>(shifted) >> 23;
  const Floats m = floats(bits(x) - reinterpret_cast<Words>(whole << 23));
  const Floats twos = __builtin_convertvector(whole, Floats);
  // log m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172.
  const Floats s = (m - 1.0f) / (m + 1.0f);
  const Floats square = s * s;
  Floats series = all(2.0f / 9);
  series = series * square + 2.0f / 7;
  series = series * square + 2.0f / 5;
  series = series * square + 2.0f / 3;
  return twos * 0.693359375f + (s * (series * square + 2.0f) - twos * 2.12194440e-4f);
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
