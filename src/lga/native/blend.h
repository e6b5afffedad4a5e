// Blending of parents, as in operators/crossover.py.

#pragma once

#include "attention.h"
#include "products.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// What a unit of work knows of all parents of its run.
struct BlendingParents {
  Columns<4> features;
  Columns<1> log_sigma;
  // The last columns of the solutions, if there are too few of them for a vector.
  Rows tails;
  int64_t count, num_dims;
  const float* solutions = nullptr;

  BlendingParents(int64_t count, int64_t num_dims)
      : features(count), log_sigma(count), tails(count, kLanes), count(count), num_dims(num_dims) {}

  void prepare(const Blend& call, int64_t run) {
    const Batch& batch = call.batch;
    solutions = call.solutions.at(batch, run);
    parent_features(call.fitness.at(batch, run), call.age.at(batch, run), count, *call.best_fitness.at(batch, run),
                    *call.generation.at(batch, run), log_sigma, features);
    copy(call.sigma.at(batch, run), count, log_sigma[0]);
    pad(log_sigma[0], count);
    for (int64_t e = 0; e < count; e += kLanes) store(log_sigma[0] + e, logarithm(load(log_sigma[0] + e)));
    const int64_t whole = num_dims / kLanes * kLanes;
    if (whole < num_dims)
      for (int64_t e = 0; e < count; ++e)
        for (int64_t d = whole; d < num_dims; ++d) tails[e][d - whole] = solutions[e * num_dims + d];
  }

  // A vector of a parent's solution; behind its end, zeros.
  const float* columns(int64_t parent, int64_t from) const {
    return from + kLanes <= num_dims ? solutions + parent * num_dims + from : tails[parent];
  }
};

// A vector of children, each by the index of its parent.
struct BlendingChildren {
  int64_t parent[kLanes];
  Floats gates{}, away{};
};

// The shares [E] of all parents in each child's start, and the children's `gates` (what the shares sum up to) and `away`.
inline void share_out(const BlendingParents& parents, int64_t num_heads, const float* attend, const float* gate_kernel,
                      const float* gate_bias, BlendingChildren& children, float* logits, float* shares) {
  constexpr int F = 4, G = F + 1;
  Floats asking[F], query[G], own_log_sigma;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    for (int f = 0; f < F; ++f) asking[f][lane] = parents.features[f][children.parent[lane]];
    own_log_sigma[lane] = parents.log_sigma[0][children.parent[lane]];
  }
  for (int64_t head = 0; head < num_heads; ++head, attend += G * G) {
    asking_forms<F>(asking, attend, query);
    const Floats most = logits_towards<F>(query, parents.features, parents.count, logits);
    Floats settled{}, recent{};
    for (int64_t e = 0; e < parents.count; ++e) {
      const Floats weight = exponential_of_negative(load(logits + e * kLanes) - most);
      store(logits + e * kLanes, weight);
      recent += weight;
      if ((e + 1) % kSumBlock == 0) {
        settled += recent;
        recent = Floats{};
      }
    }
    // From zero weights a parent moves an eighth of the way to the centroid.
    Floats opening = all(gate_bias[head] - 2.0f);
    for (int f = 0; f < F; ++f) opening += asking[f] * gate_kernel[f * num_heads + head];
    const Floats gate = sigmoid(opening) / static_cast<float>(num_heads), factor = gate / (settled + recent);
    children.gates += gate;
    for (int64_t e = 0; e < parents.count; ++e) {
      const Floats share = factor * load(logits + e * kLanes);
      store(shares + e * kLanes, head == 0 ? share : load(shares + e * kLanes) + share);
    }
  }
  // In differences: rates that are equal stay so to the last bit, or features would see their rounding.
  Floats away{};
  for (int64_t block = 0; block < parents.count; block += kSumBlock) {
    Floats sum{};
    for (int64_t e = block; e < least(block + kSumBlock, parents.count); ++e)
      sum += load(shares + e * kLanes) * (parents.log_sigma[0][e] - own_log_sigma);
    away += sum;
  }
  children.away = away / children.gates;
}

// The starts of a few children, from lane `first` on.
inline void mix_solutions(const BlendingParents& parents, const BlendingChildren& children, int64_t first, int64_t count,
                          const float* shares, float* blended) {
  const int64_t num_dims = parents.num_dims;
  for (int64_t from = 0; from < num_dims; from += kLanes) {
    Floats means[kSideBySide];
    sums_of_rows(parents.count, {shares + first, 1, kLanes}, [&](int64_t e) { return parents.columns(e, from); }, means);
    for (int64_t child = 0; child < least(kSideBySide, count - first); ++child) {
      const Floats own = load(parents.columns(children.parent[first + child], from));
      const Floats moved = own + (means[child] - children.gates[first + child] * own);
      store_some(blended + child * num_dims + from, moved, least(kLanes, num_dims - from));
    }
  }
}

inline void blend(const Blend& call, int64_t begin, int64_t end) {
  const int64_t num_parents = call.num_parents, num_children = call.num_children, num_dims = call.num_dims;
  const Batch& batch = call.batch;
  BlendingParents parents(num_parents, num_dims);
  Scratch<float> logits(num_parents * kLanes), shares(num_parents * kLanes);
  int64_t prepared = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t run = unit / call.units_per_run(), from = unit % call.units_per_run() * kRowBlock;
    if (run != prepared) {
      parents.prepare(call, run);
      prepared = run;
    }
    const int32_t* parent_index = call.parent_index.at(batch, run);
    float *blended = call.blended.at(batch, run), *away = call.away.at(batch, run);
    for (int64_t n = from; n < least(from + kRowBlock, num_children); n += kLanes) {
      const int64_t count = least(kLanes, num_children - n);
      BlendingChildren children;
      for (int64_t lane = 0; lane < kLanes; ++lane)
        children.parent[lane] = within(parent_index[lane < count ? n + lane : n], num_parents);
      share_out(parents, call.num_heads, call.attend.at(batch, run), call.gate_kernel.at(batch, run),
                call.gate_bias.at(batch, run), children, logits.data(), shares.data());
      store_some(away + n, children.away, count);
      for (int64_t first = 0; first < count; first += kSideBySide)
        mix_solutions(parents, children, first, count, shares.data(), blended + (n + first) * num_dims);
    }
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
