// Random numbers of keys, and mutation by them, as in core/random.py.

#pragma once

#include "scratch.h"
#include "threefry.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

inline void split(const uint32_t* key, int64_t from, int64_t count, uint32_t* keys) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Pair words = threefry(key, from + i);
    for (int64_t lane = 0; lane < least(kLanes, count - i); ++lane) {
      keys[2 * (i + lane)] = words.first[lane];
      keys[2 * (i + lane) + 1] = words.second[lane];
    }
  }
}

inline void uniform(const uint32_t* key, int64_t count, float* numbers) {
  for (int64_t i = 0; i < count; i += kLanes) store_some(numbers + i, uniform(key, i), least(kLanes, count - i));
}

inline void mutate(const Mutate& call, int64_t begin, int64_t end) {
  const int64_t num_dims = call.num_dims, size = call.num_children * num_dims;
  float noise[kGenomeBlock + kLanes];
  // Positions run slower than runs: where the runs share a key, each block of noise is drawn once.
  const uint32_t* drawn_key = nullptr;
  int64_t drawn_block = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t block = unit / call.batch.count, run = unit % call.batch.count;
    const int64_t from = block * kGenomeBlock, to = least(from + kGenomeBlock, size);
    const uint32_t* key = call.key.at(call.batch, run);
    if (key != drawn_key || block != drawn_block) {
      for (int64_t i = from; i < to; i += kLanes) store(noise + (i - from), standard_normal(key, i));
      drawn_key = key, drawn_block = block;
    }
    const float* solutions = call.solutions.at(call.batch, run);
    const int32_t* parent_index = call.parent_index.at(call.batch, run);
    const float* sigma = call.sigma.at(call.batch, run);
    float* mutated = call.mutated.at(call.batch, run);
    for (int64_t here = from, child = from / num_dims; here < to; ++child) {
      const int64_t next = least((child + 1) * num_dims, to), column = here - child * num_dims;
      const int64_t parent = within(parent_index[child], call.num_parents);
      add_scaled(solutions + parent * num_dims + column, sigma[child], noise + (here - from), next - here,
                 mutated + here);
      here = next;
    }
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
