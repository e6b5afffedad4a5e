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
  int64_t count;

  explicit BlendingParents(int64_t count) : features(count), log_sigma(count), count(count) {}

  void prepare(const Blend& call, int64_t run) {
    const Batch& batch = call.batch;
    parent_features(call.fitness.at(batch, run), call.age.at(batch, run), count, *call.best_fitness.at(batch, run),
                    *call.generation.at(batch, run), log_sigma, features);
    copy(call.sigma.at(batch, run), count, log_sigma[0]);
    pad(log_sigma[0], count);
    for (int64_t e = 0; e < count; e += kLanes) store(log_sigma[0] + e, logarithm(load(log_sigma[0] + e)));
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

// The same columns of all parents' solutions, close together: where solutions are long, rows lie pages apart.
struct Tile {
  static constexpr int64_t kWidth = 128;
  Rows rows;
  int64_t count;

  explicit Tile(int64_t count) : rows(count, kWidth), count(count) {}

  void take(const float* solutions, int64_t num_dims, int64_t width) {
    for (int64_t e = 0; e < count; ++e) copy(solutions + e * num_dims, width, rows[e]);
  }
};

// The starts of a few children, from lane `first` on, in the columns of a tile.
inline void mix_solutions(const Tile& tile, int64_t width, const BlendingChildren& children, int64_t first, int64_t count,
                          const float* shares, float* blended, int64_t num_dims) {
  for (int64_t from = 0; from < width; from += kLanes) {
    Floats means[kSideBySide];
    sums_of_rows(tile.count, {shares + first, 1, kLanes}, [&](int64_t e) { return tile.rows[e] + from; }, means);
    for (int64_t child = 0; child < least(kSideBySide, count - first); ++child) {
      const Floats own = load(tile.rows[children.parent[first + child]] + from);
      const Floats moved = own + (means[child] - children.gates[first + child] * own);
      store_some(blended + child * num_dims + from, moved, least(kLanes, width - from));
    }
  }
}

// A unit of work is some children in some columns; what the shares of its children are is found out for each.
inline void blend(const Blend& call, int64_t begin, int64_t end) {
  const int64_t num_parents = call.num_parents, num_children = call.num_children, num_dims = call.num_dims;
  const Batch& batch = call.batch;
  BlendingParents parents(num_parents);
  Tile tile(num_parents);
  constexpr int64_t kGroups = kBlendedRows / kLanes;
  BlendingChildren children[kGroups];
  Scratch<float> logits(num_parents * kLanes), shares(num_parents * least(kBlendedRows, padded(num_children)));
  int64_t prepared = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t run = unit / call.units_per_run(), within_run = unit % call.units_per_run();
    const int64_t first_row = within_run / call.units_of_columns() * kBlendedRows;
    const int64_t first_column = within_run % call.units_of_columns() * kBlendedColumns;
    if (run != prepared) {
      parents.prepare(call, run);
      prepared = run;
    }
    const int32_t* parent_index = call.parent_index.at(batch, run);
    const int64_t num_rows = least(kBlendedRows, num_children - first_row), num_groups = padded(num_rows) / kLanes;
    const auto shares_of = [&](int64_t group) { return shares.data() + group * num_parents * kLanes; };
    const auto size_of = [&](int64_t group) { return least(kLanes, num_rows - group * kLanes); };
    for (int64_t group = 0; group < num_groups; ++group) {
      const int64_t n = first_row + group * kLanes, count = size_of(group);
      BlendingChildren& own = children[group] = {};
      for (int64_t lane = 0; lane < kLanes; ++lane)
        own.parent[lane] = within(parent_index[lane < count ? n + lane : n], num_parents);
      share_out(parents, call.num_heads, call.attend.at(batch, run), call.gate_kernel.at(batch, run),
                call.gate_bias.at(batch, run), own, logits.data(), shares_of(group));
      if (first_column == 0) store_some(call.away.at(batch, run) + n, own.away, count);
    }
    const int64_t last_column = least(first_column + kBlendedColumns, num_dims);
    for (int64_t from = first_column; from < last_column; from += Tile::kWidth) {
      const int64_t width = least(Tile::kWidth, last_column - from);
      tile.take(call.solutions.at(batch, run) + from, num_dims, width);
      float* blended = call.blended.at(batch, run) + first_row * num_dims + from;
      for (int64_t group = 0; group < num_groups; ++group)
        for (int64_t first = 0; first < size_of(group); first += kSideBySide)
          mix_solutions(tile, width, children[group], first, size_of(group), shares_of(group),
                        blended + (group * kLanes + first) * num_dims, num_dims);
    }
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
