// What generated programs are made of: a lane is an episode, a vector holds one number of each of them.
//
// Written for itself, so that it compiles wherever a C++ compiler is: vectors are the compiler's own, as wide as the
// widest instruction set, and are cut into narrower ones where that is missing.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace lanes {

constexpr int kLanes = 16;
typedef float F __attribute__((vector_size(4 * kLanes)));
typedef int32_t I __attribute__((vector_size(4 * kLanes)));
typedef uint32_t U __attribute__((vector_size(4 * kLanes)));
// Truth values: all bits of a lane are set, or none.
typedef I B;

inline F all(float value) { return F{} + value; }
inline I all(int32_t value) { return I{} + value; }
inline U all(uint32_t value) { return U{} + value; }
inline B all(bool value) { return I{} - static_cast<int32_t>(value); }

// Memory holds words; a truth value is 0 or 1 there.
inline F f_word(U word) { return reinterpret_cast<F>(word); }
inline I i_word(U word) { return reinterpret_cast<I>(word); }
inline U u_word(U word) { return word; }
inline B b_word(U word) { return word != 0; }
inline U word(F value) { return reinterpret_cast<U>(value); }
inline U word(I value) { return reinterpret_cast<U>(value); }
inline U word(U value) { return value; }
inline U word_of_truth(B value) { return reinterpret_cast<U>(-value); }
// Of a lane, or the same for all.
inline U word_of(U word) { return word; }
inline U word_of(uint32_t word) { return all(word); }

inline bool any(U words) {
#ifdef __AVX512F__
  const __m512i all_words = reinterpret_cast<__m512i>(words);
  return _mm512_test_epi32_mask(all_words, all_words) != 0;
#else
  uint32_t found = 0;
  for (int lane = 0; lane < kLanes; ++lane) found |= words[lane];
  return found != 0;
#endif
}

template <typename V> inline V add(V a, V b) { return a + b; }
template <typename V> inline V subtract(V a, V b) { return a - b; }
template <typename V> inline V multiply(V a, V b) { return a * b; }
template <typename V> inline V divide(V a, V b) { return a / b; }
template <typename V> inline V negative(V a) { return -a; }
template <typename V> inline V choose(B which, V yes, V no) { return which ? yes : no; }
// As in JAX, what is no number stays.
inline F max(F a, F b) { return ((a >= b) | (a != a)) ? a : b; }
inline F min(F a, F b) { return ((a <= b) | (a != a)) ? a : b; }
inline I max(I a, I b) { return a > b ? a : b; }
inline I min(I a, I b) { return a < b ? a : b; }
inline U max(U a, U b) { return a > b ? a : b; }
inline U min(U a, U b) { return a < b ? a : b; }
inline F absolute(F a) { return reinterpret_cast<F>(reinterpret_cast<U>(a) & 0x7fffffffu); }
inline I absolute(I a) { return a < 0 ? -a : a; }
inline F sign(F a) { return a > 0.0f ? all(1.0f) : (a < 0.0f ? all(-1.0f) : a); }
inline I sign(I a) { return (a > 0 ? all(1) : I{}) - (a < 0 ? all(1) : I{}); }
inline I remainder(I a, I b) { return a % b; }
inline U remainder(U a, U b) { return a % b; }
inline F remainder(F a, F b) {
  F result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = std::fmod(a[lane], b[lane]);
  return result;
}
template <typename V> inline V and_(V a, V b) { return a & b; }
template <typename V> inline V or_(V a, V b) { return a | b; }
template <typename V> inline V xor_(V a, V b) { return a ^ b; }
template <typename V> inline V not_(V a) { return ~a; }
inline U shift_left(U a, U b) { return a << b; }
inline I shift_left(I a, I b) { return a << b; }
// By 32 bits or more nothing is left.
inline U shift_right(U a, U b) { return b < 32u ? a >> b : U{}; }
inline I shift_right(I a, I b) { return reinterpret_cast<I>(shift_right(reinterpret_cast<U>(a), reinterpret_cast<U>(b))); }
template <typename V> inline B eq(V a, V b) { return a == b; }
template <typename V> inline B ne(V a, V b) { return a != b; }
template <typename V> inline B lt(V a, V b) { return a < b; }
template <typename V> inline B le(V a, V b) { return a <= b; }
template <typename V> inline B gt(V a, V b) { return a > b; }
template <typename V> inline B ge(V a, V b) { return a >= b; }
inline B is_finite(F a) { return (reinterpret_cast<U>(a) & 0x7f800000u) != 0x7f800000u; }

inline F f_from_i(I a) { return __builtin_convertvector(a, F); }
inline F f_from_u(U a) { return __builtin_convertvector(a, F); }
inline F f_from_b(B a) { return a ? all(1.0f) : F{}; }
inline I i_from_f(F a) { return __builtin_convertvector(a, I); }
inline I i_from_u(U a) { return reinterpret_cast<I>(a); }
inline I i_from_b(B a) { return -a; }
inline U u_from_i(I a) { return reinterpret_cast<U>(a); }
inline U u_from_f(F a) { return __builtin_convertvector(a, U); }
inline U u_from_b(B a) { return reinterpret_cast<U>(-a); }
inline B b_from_f(F a) { return a != 0.0f; }
inline B b_from_i(I a) { return a != 0; }
inline B b_from_u(U a) { return a != 0; }
inline F f_bits_of_u(U a) { return reinterpret_cast<F>(a); }
inline F f_bits_of_i(I a) { return reinterpret_cast<F>(a); }
inline U u_bits_of_f(F a) { return reinterpret_cast<U>(a); }
inline I i_bits_of_f(F a) { return reinterpret_cast<I>(a); }

inline F root(F a) {
#ifdef __AVX512F__
  return reinterpret_cast<F>(_mm512_sqrt_ps(reinterpret_cast<__m512>(a)));
#else
  F result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = __builtin_sqrtf(a[lane]);
  return result;
#endif
}

inline F floor(F a) {
  F result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = __builtin_floorf(a[lane]);
  return result;
}

// For |x| < 2^22: adding 1.5 * 2^23 pushes the fraction out of the mantissa.
inline F nearest(F x) { return (x + 12582912.0f) - 12582912.0f; }

// Both of an angle of some thousands at most: a quarter turn is taken off in three parts, of which two are exact.
struct Turn {
  F sine, cosine;
};

inline Turn turn(F x) {
  const F quarters = nearest(x * 0.636619772f);
  const F rest = ((x - quarters * 1.5703125f) - quarters * 4.83751297e-4f) - quarters * 7.54978995e-8f;
  const F square = rest * rest;
  F sine = all(-1.9515295891e-4f);
  sine = sine * square + 8.3321608736e-3f;
  sine = sine * square - 1.6666654611e-1f;
  sine = sine * square * rest + rest;
  F cosine = all(2.443315711809948e-5f);
  cosine = cosine * square - 1.388731625493765e-3f;
  cosine = cosine * square + 4.166664568298827e-2f;
  cosine = cosine * square * square - 0.5f * square + 1.0f;
  const I quarter = __builtin_convertvector(quarters, I);
  const B is_odd = (quarter & 1) != 0;
  const F one = is_odd ? cosine : sine, other = is_odd ? sine : cosine;
  return {(quarter & 2) != 0 ? -one : one, ((quarter + 1) & 2) != 0 ? -other : other};
}

inline F sine(F x) { return turn(x).sine; }
inline F cosine(F x) { return turn(x).cosine; }

// atan of |x| <= 1: the polynomial is good to tan(pi / 8), further angles are turned by pi / 4.
inline F small_arc_tangent(F x) {
  const B is_far = x > 0.4142135623730950f;
  const F near = is_far ? (x - 1.0f) / (x + 1.0f) : x;
  const F square = near * near;
  F tail = all(8.05374449538e-2f);
  tail = tail * square - 1.38776856032e-1f;
  tail = tail * square + 1.99777106478e-1f;
  tail = tail * square - 3.33329491539e-1f;
  return (is_far ? all(0.785398163f) : F{}) + (tail * square * near + near);
}

inline F arc_tangent(F y, F x) {
  const F high = absolute(y), wide = absolute(x);
  const B is_steep = high > wide;
  const F larger = is_steep ? high : wide, smaller = is_steep ? wide : high;
  const F angle = small_arc_tangent(larger > 0.0f ? smaller / larger : larger);
  const F first = is_steep ? 1.57079633f - angle : angle;
  const B is_behind = reinterpret_cast<I>(x) < 0;
  const F upper = is_behind ? 3.14159265f - first : first;
  return reinterpret_cast<F>(reinterpret_cast<U>(upper) | (reinterpret_cast<U>(y) & 0x80000000u));
}

inline F arc_sine(F x) { return arc_tangent(x, root((1.0f - x) * (1.0f + x))); }
inline F arc_cosine(F x) { return arc_tangent(root((1.0f - x) * (1.0f + x)), x); }

inline F power_of_two(I whole) { return reinterpret_cast<F>((whole + 127) << 23); }

inline F exponential(F x) {
  const F bounded = x < -87.0f ? all(-87.0f) : (x > 89.0f ? all(89.0f) : x);
  const F twos = nearest(bounded * 1.44269504f);
  // ln 2 in two parts: the first has so few digits that its product is exact.
  const F rest = (bounded - twos * 0.693359375f) + twos * 2.12194440e-4f;
  F tail = all(0.00138144672f);
  tail = tail * rest + 0.00836878084f;
  tail = tail * rest + 0.0416683927f;
  tail = tail * rest + 0.166665196f;
  tail = tail * rest + 0.49999994f;
  const I whole = __builtin_convertvector(twos, I), half = whole >> 1;
  const F value = ((tail * rest) * rest + rest + 1.0f) * power_of_two(half) * power_of_two(whole - half);
  return x != x ? x : (x < -87.0f ? F{} : value);
}

inline F hyperbolic_tangent(F x) {
  const F shrunk = exponential(x < 0.0f ? 2.0f * x : -2.0f * x);
  const F size = (1.0f - shrunk) / (1.0f + shrunk);
  // Near zero the difference has lost its digits.
  const F square = x * x;
  const F tiny = x * (1.0f - square * (0.333333333f - square * 0.133333333f));
  return square < 0.01f ? tiny : (x < 0.0f ? -size : size);
}

inline F logarithm(F a) {
  F result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = std::log(a[lane]);
  return result;
}

// Filters of odd width over one image of each lane, with a border of zeros. Pixels that are zero in all lanes, of which
// games have many, cost nothing.
template <int kHeight, int kWidth, int kChannels, int kSize, int kFilters>
void convolve(const F* image, const uint32_t* filter_words, const uint32_t* bias_words, F* result) {
  constexpr int kBlock = kFilters < 16 ? kFilters : 16, kHalf = kSize / 2;
  static_assert(kFilters % kBlock == 0, "filters come in whole blocks");
  const float* filters = reinterpret_cast<const float*>(filter_words);
  const float* bias = reinterpret_cast<const float*>(bias_words);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int from = 0; from < kFilters; from += kBlock) {
        F sums[kBlock];
#pragma GCC unroll 16
        for (int filter = 0; filter < kBlock; ++filter) sums[filter] = all(bias[from + filter]);
        for (int row = y < kHalf ? kHalf - y : 0; row < kSize && y + row - kHalf < kHeight; ++row)
          for (int column = x < kHalf ? kHalf - x : 0; column < kSize && x + column - kHalf < kWidth; ++column) {
            const F* pixel = image + ((y + row - kHalf) * kWidth + x + column - kHalf) * kChannels;
            const float* weights = filters + (row * kSize + column) * kChannels * kFilters + from;
            for (int channel = 0; channel < kChannels; ++channel, weights += kFilters) {
              const F value = pixel[channel];
              if (!any(reinterpret_cast<U>(value))) continue;
#pragma GCC unroll 16
              for (int filter = 0; filter < kBlock; ++filter) sums[filter] += value * weights[filter];
            }
          }
#pragma GCC unroll 16
        for (int filter = 0; filter < kBlock; ++filter) result[(y * kWidth + x) * kFilters + from + filter] = sums[filter];
      }
}

struct Pair {
  U first, second;
};

// Threefry-2x32 with 20 rounds (Salmon et al., 2011), of which JAX's random numbers are made.
inline Pair threefry(U key0, U key1, U x0, U x1) {
  const U keys[3] = {key0, key1, key0 ^ key1 ^ 0x1bd11bdau};
  const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  x0 += keys[0];
  x1 += keys[1];
#pragma GCC unroll 5
  for (uint32_t group = 0; group < 5; ++group) {
#pragma GCC unroll 4
    for (int round = 0; round < 4; ++round) {
      const int bits = rotations[group % 2][round];
      x0 += x1;
      x1 = ((x1 << bits) | (x1 >> (32 - bits))) ^ x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + (group + 1);
  }
  return {x0, x1};
}

inline U threefry_first(U k0, U k1, U x0, U x1) { return threefry(k0, k1, x0, x1).first; }
inline U threefry_second(U k0, U k1, U x0, U x1) { return threefry(k0, k1, x0, x1).second; }

}  // namespace lanes
