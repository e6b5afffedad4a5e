// One number from self-attention for each individual: its mutation rate, as in operators/mutation_rate.py, and its share of
// the children, as in operators/sampling.py.

#pragma once

#include "attention.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// What each individual tells those that attend to it: padded(N) numbers per head.
template <int F>
inline void tell(const Columns<F>& features, int64_t count, int64_t num_heads, const float* value, float* told) {
  for (int64_t head = 0; head < num_heads; ++head, value += F + 1, told += padded(count))
    for (int64_t n = 0; n < count; n += kLanes) {
      Floats own = all(value[F]);
      for (int f = 0; f < F; ++f) own += value[f] * load(features[f] + n);
      store(told + n, own);
    }
}

// A vector of individuals reads out what all tell, head by head.
template <int F>
inline Floats read_out(const Columns<F>& features, int64_t first, int64_t count, int64_t num_heads, const float* attend,
                       const float* told, float* logits) {
  constexpr int G = F + 1;
  Floats asking[F], query[G], readout{};
  for (int f = 0; f < F; ++f) asking[f] = load(features[f] + first);
  for (int64_t head = 0; head < num_heads; ++head, attend += G * G, told += padded(count)) {
    asking_forms<F>(asking, attend, query);
    const Floats most = logits_towards<F>(query, features, count, logits);
    Floats gathered{}, total{};
    for (int64_t block = 0; block < count; block += kSumBlock) {
      Floats sum{}, weights{};
      for (int64_t n = block; n < least(block + kSumBlock, count); ++n) {
        const Floats weight = exponential_of_negative(load(logits + n * kLanes) - most);
        sum += weight * told[n];
        weights += weight;
      }
      gathered += sum;
      total += weights;
    }
    readout += gathered / total;
  }
  return readout;
}

inline void rate(const Rate& call, int64_t begin, int64_t end) {
  const int64_t num_children = call.num_children;
  const Batch& batch = call.batch;
  Columns<5> features(num_children);
  Columns<1> copied(num_children);
  Scratch<float> logits(num_children * kLanes), told(call.num_heads * padded(num_children));
  int64_t prepared = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t run = unit / call.units_per_run(), from = unit % call.units_per_run() * kRowBlock;
    if (run != prepared) {
      copy(call.fitness.at(batch, run), num_children, copied[0]);
      pad(copied[0], num_children);
      fitness_features(copied[0], num_children, *call.best_fitness.at(batch, run), features);
      copy(call.sigma.at(batch, run), num_children, copied[0]);
      pad(copied[0], num_children);
      sigma_features(copied[0], num_children, features);
      tell(features, num_children, call.num_heads, call.value.at(batch, run), told.data());
      prepared = run;
    }
    float* multiplier = call.multiplier.at(batch, run);
    for (int64_t n = from; n < least(from + kRowBlock, num_children); n += kLanes) {
      const Floats readout =
          read_out(features, n, num_children, call.num_heads, call.attend.at(batch, run), told.data(), logits.data());
      store_some(multiplier + n, exponential(0.5f * readout), least(kLanes, num_children - n));
    }
  }
}

// Softmax of the logits, laid end to end; the ends are written over the logits. Returns the last one.
inline float lay_end_to_end(float* logits, int64_t count) {
  pad(logits, count);
  Floats most = load(logits);
  for (int64_t i = kLanes; i < count; i += kLanes) most = larger(most, load(logits + i));
  const float largest_logit = largest(most);
  for (int64_t i = 0; i < count; i += kLanes)
    store(logits + i, exponential_of_negative(load(logits + i) - largest_logit));
  float settled = 0.0f, recent = 0.0f;
  for (int64_t i = 0; i < count; ++i) {
    recent += logits[i];
    logits[i] = settled + recent;
    if ((i + 1) % kSumBlock == 0) {
      settled += recent;
      recent = 0.0f;
    }
  }
  return settled + recent;
}

inline void sample(const Sample& call, int64_t begin, int64_t end) {
  const int64_t num_parents = call.num_parents, num_children = call.num_children;
  const Batch& batch = call.batch;
  Columns<4> features(num_parents);
  Columns<1> weights(num_parents);
  Scratch<float> logits(num_parents * kLanes), told(call.num_heads * padded(num_parents));
  for (int64_t run = begin; run < end; ++run) {
    parent_features(call.fitness.at(batch, run), call.age.at(batch, run), num_parents, *call.best_fitness.at(batch, run),
                    *call.generation.at(batch, run), weights, features);
    tell(features, num_parents, call.num_heads, call.value.at(batch, run), told.data());
    for (int64_t e = 0; e < num_parents; e += kLanes)
      store(weights[0] + e, read_out(features, e, num_parents, call.num_heads, call.attend.at(batch, run), told.data(),
                                     logits.data()));
    const float total = lay_end_to_end(weights[0], num_parents);
    const float* uniform = call.uniform.at(batch, run);
    int32_t* chosen = call.chosen.at(batch, run);
    for (int64_t n = 0; n < num_children; n += kLanes) {
      const int64_t count = least(kLanes, num_children - n);
      const Floats landed = load_some(uniform + n, count) * total;
      Ints index{};
      // A comparison is -1 where it holds. Not-a-numbers may pass all ends, but no index leaves the parents.
      for (int64_t e = 0; e + 1 < num_parents; ++e) index -= weights[0][e] <= landed;
      std::memcpy(chosen + n, &index, count * sizeof(int32_t));
    }
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
