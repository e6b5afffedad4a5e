// Random numbers of JAX's keys: the same bits, hence (up to rounding) the same numbers as jax.random draws.
//
// Threefry-2x32 with 20 rounds (Salmon et al., 2011) of the position in the array; the two words are combined by exclusive
// or, as with jax_threefry_partitionable. The result depends on key and position only.

#pragma once

#include "vector.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

template <int kBits>
inline void mix(Words& x0, Words& x1) {
  x0 += x1;
  x1 = ((x1 << kBits) | (x1 >> (32 - kBits))) ^ x0;
}

struct Pair {
  Words first, second;
};

// The two words of each of the positions `from`, `from` + 1, ...
inline Pair threefry(const uint32_t* key, int64_t from) {
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bdau};
  const uint32_t low = static_cast<uint32_t>(from), high = static_cast<uint32_t>(static_cast<uint64_t>(from) >> 32);
  Words x1 = low + lane_index();
  // Positions are 64 bits wide: a lane whose low word has wrapped around carries into the high one (-1 where it holds).
  Words x0 = high - reinterpret_cast<Words>(x1 < low);
  x0 += keys[0];
  x1 += keys[1];
#pragma GCC unroll 5
  for (uint32_t group = 0; group < 5; ++group) {
    if (group % 2 == 0) {
      mix<13>(x0, x1), mix<15>(x0, x1), mix<26>(x0, x1), mix<6>(x0, x1);
    } else {
      mix<17>(x0, x1), mix<29>(x0, x1), mix<16>(x0, x1), mix<24>(x0, x1);
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

// 32 random bits for each of the positions `from`, `from` + 1, ...
inline Words random_bits(const uint32_t* key, int64_t from) {
  const Pair words = threefry(key, from);
  return words.first ^ words.second;
}

// Uniform in [0, 1): 23 bits as the mantissa of a number in [1, 2), which is then shifted.
inline Floats uniform(const uint32_t* key, int64_t from) {
  return floats((random_bits(key, from) >> 9) | 0x3f800000u) - 1.0f;
}

// erf^-1, with the polynomials of Giles (2012), "Approximating the erfinv function".
inline Floats inverse_error_function(Floats x) {
  const Floats w = -logarithm((1.0f - x) * (1.0f + x));
  const auto is_central = w < 5.0f;
  const Floats centre = w - 2.5f, tail = square_root(w) - 3.0f;
  const Floats t = is_central ? centre : tail;
  constexpr float kCentral[] = {2.81022636e-08f, 3.43273939e-07f,  -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                                -0.00125372503f, -0.00417768164f, 0.246640727f,    1.50140941f};
  constexpr float kTail[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                             -0.0076224613f,   0.00943887047f,  1.00167406f,    2.83297682f};
  Floats value = is_central ? all(kCentral[0]) : all(kTail[0]);
  for (int k = 1; k < 9; ++k) value = value * t + (is_central ? all(kCentral[k]) : all(kTail[k]));
  return value * x;
}

// Standard normal numbers at the positions `from`, `from` + 1, ... of an array.
inline Floats standard_normal(const uint32_t* key, int64_t from) {
  constexpr float kLowest = -0.99999994f;
  return 1.41421356f * inverse_error_function(larger(all(kLowest), 2.0f * uniform(key, from) + kLowest));
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
