// What the learned operators see, as in operators/features.py.

#pragma once

#include <algorithm>

#include "scratch.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// Below this size all pairs are compared, which fills the lanes; above it sorting is cheaper.
constexpr int64_t kLargestPairwiseSize = 1024;

// The rank of what comes at the given place, counted from 0, among `count` values.
template <typename Place>
inline Place centred(Place place, int64_t count) {
  return (place - 0.5f * static_cast<float>(count - 1)) / (count > 1 ? static_cast<float>(count - 1) : 1.0f);
}

// Equal values come in the order of their positions.
inline void centred_ranks(const float* values, int64_t count, float* ranks) {
  if (count <= kLargestPairwiseSize) {
    const Ints lane = reinterpret_cast<Ints>(lane_index());
    for (int64_t i = 0; i < count; i += kLanes) {
      const Floats own = load(values + i);
      const int64_t end = least(i + kLanes, count);
      Ints place{};
      // A comparison is -1 where it holds. Equals that lie before come before, those that lie behind do not.
      for (int64_t j = 0; j < i; ++j) place -= own >= values[j];
      for (int64_t j = i; j < end; ++j)
        place -= (own > values[j]) | ((own == values[j]) & (lane > static_cast<int32_t>(j - i)));
      for (int64_t j = end; j < count; ++j) place -= own > values[j];
      store(ranks + i, centred(__builtin_convertvector(place, Floats), count));
    }
    return;
  }
  Scratch<int64_t> scratch(count);
  int64_t* order = scratch.data();
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  // By integers of the same order: not-a-numbers, which have no order, would lead the sort out of bounds.
  const auto key = [values](int64_t i) {
    int32_t word;
    std::memcpy(&word, values + i, sizeof word);
    return word < 0 ? -static_cast<int64_t>(word & 0x7fffffff) : static_cast<int64_t>(word);
  };
  std::sort(order, order + count,
            [key](int64_t a, int64_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (int64_t place = 0; place < count; ++place) ranks[order[place]] = centred(static_cast<float>(place), count);
}

inline float positive_or_one(float scale) { return scale > 0.0f ? scale : 1.0f; }

struct Range {
  float low, high;
};

// What exceeds the range is drawn to its end. A small part of each value: the range of the largest floats would overflow,
// and its reciprocal would vanish.
inline void between_zero_and_one(const float* values, int64_t count, Range range, float* unit) {
  const float low = 0.0625f * range.low, extent = positive_or_one(0.0625f * range.high - low);
  for (int64_t i = 0; i < count; i += kLanes)
    store(unit + i, (0.0625f * smaller(load(values + i), all(range.high)) - low) / extent);
}

// `unit` holds values between zero and one, and is overwritten.
inline void z_score(float* unit, int64_t count) {
  const float size = static_cast<float>(count);
  const float mean = total(unit, count, [](Floats some) { return some; }) / size;
  for (int64_t i = 0; i < count; i += kLanes) store(unit + i, load(unit + i) - mean);
  const float squares = total(unit, count, [](Floats centred) { return centred * centred; });
  const float scale = 1.0f / positive_or_one(__builtin_sqrtf(squares / size));
  for (int64_t i = 0; i < count; i += kLanes) store(unit + i, scale * load(unit + i));
}

// Better-than-best flag, centred rank and z-score into the first three columns. `values` must be padded.
template <int F>
inline void fitness_features(const float* values, int64_t count, float best, Columns<F>& features) {
  Floats low = all(values[0]), high = all(-kFailed);
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats fitness = load(values + i);
    store(features[0] + i, fitness < best ? all(1.0f) : Floats{});
    low = smaller(low, fitness);
    high = larger(high, fitness >= kFailed ? all(-kFailed) : fitness);
  }
  centred_ranks(values, count, features[1]);
  // Failed evaluations take the worst value that succeeded, lest one failure flatten all other z-scores.
  const float worst_success = largest(high), best_success = smallest(low);
  const Range range{worst_success < best_success ? worst_success : best_success, worst_success};
  between_zero_and_one(values, count, range, features[2]);
  z_score(features[2], count);
}

// Fitness features of the parents, and the share of the search that each has lived through. `scratch` has room for them.
inline void parent_features(const float* fitness, const int32_t* age, int64_t count, float best, int32_t generation,
                            Columns<1>& scratch, Columns<4>& features) {
  copy(fitness, count, scratch[0]);
  pad(scratch[0], count);
  fitness_features(scratch[0], count, best, features);
  for (int64_t i = 0; i < count; ++i) scratch[0][i] = static_cast<float>(age[i]);
  const float generations = static_cast<float>(generation > 1 ? generation : 1);
  for (int64_t i = 0; i < count; i += kLanes)
    store(features[3] + i, hyperbolic_tangent(load(scratch[0] + i) / generations - 1.0f));
}

// z-score and [-1, 1] normalisation of the mutation rates, into the two columns behind. `sigma` must be padded.
inline void sigma_features(const float* sigma, int64_t count, Columns<5>& features) {
  Floats low = all(sigma[0]), high = low;
  for (int64_t i = 0; i < count; i += kLanes) {
    low = smaller(low, load(sigma + i));
    high = larger(high, load(sigma + i));
  }
  between_zero_and_one(sigma, count, {smallest(low), largest(high)}, features[3]);
  for (int64_t i = 0; i < count; i += kLanes) store(features[4] + i, 2.0f * load(features[3] + i) - 1.0f);
  z_score(features[3], count);
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
