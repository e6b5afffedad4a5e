// What the handlers call: plain functions over raw memory, one table of them for each instruction set.
//
// Shapes are those of one run; the runs of a batch lie behind each other along leading axes.

#pragma once

#include <cstdint>

namespace lga {

// Individuals whose attention is one unit of work.
constexpr int64_t kRowBlock = 16;
// Children, and columns of their starts, whose blending is one unit of work.
constexpr int64_t kBlendedRows = 64, kBlendedColumns = 4096;
constexpr int64_t kMaxBatchAxes = 6;
// Numbers of a genome that are mutated or copied at a time: noise, parents and children fit into the first cache.
constexpr int64_t kGenomeBlock = 2048;

// A fitness of this value or more marks a failed evaluation (FAILED in core/population.py).
constexpr float kFailed = 3.40282347e+38f;

constexpr int64_t blocks(int64_t count, int64_t size) { return (count + size - 1) / size; }

// The leading axes, from the outermost inwards.
struct Batch {
  int64_t rank = 0;
  int64_t size[kMaxBatchAxes] = {};
  int64_t count = 1;
};

// An array of all runs; where the runs share one, the stride is zero.
template <typename T>
struct Operand {
  T* data = nullptr;
  int64_t stride[kMaxBatchAxes] = {};

  T* at(const Batch& batch, int64_t run) const {
    T* here = data;
    for (int64_t axis = batch.rank; axis-- > 0;) {
      here += (run % batch.size[axis]) * stride[axis];
      run /= batch.size[axis];
    }
    return here;
  }
};

// Each call is made of units that do not depend on each other, so every split of them gives the same result.

// Which child, if any, takes each parent's place.
struct Select {
  Batch batch;
  int64_t num_parents, num_children, num_heads;
  Operand<const float> parent_fitness, child_fitness, best_fitness;  // [E] [N] []
  Operand<const float> uniform;                                      // [E]
  Operand<const float> attend, score;                                // [H, 4, 4] [H, 4, 4]
  Operand<int32_t> chosen;                                           // [E], N keeps the parent

  int64_t units_per_run() const { return blocks(num_parents, kRowBlock); }
  int64_t cost_of_unit() const { return 16 * num_children * num_heads; }
};

// Which parent each child descends from.
struct Sample {
  Batch batch;
  int64_t num_parents, num_children, num_heads;
  Operand<const float> fitness;        // [E]
  Operand<const int32_t> age;          // [E]
  Operand<const float> best_fitness;   // []
  Operand<const int32_t> generation;   // []
  Operand<const float> uniform;        // [N]
  Operand<const float> attend, value;  // [H, 5, 5] [H, 5]
  Operand<int32_t> chosen;             // [N]

  // A draw needs the weights of all parents.
  int64_t units_per_run() const { return 1; }
  int64_t cost_of_unit() const { return num_parents * num_parents * num_heads + num_parents * num_children / 8; }
};

// Where each child starts from: its parent, moved towards means of all parents.
struct Blend {
  Batch batch;
  int64_t num_parents, num_children, num_dims, num_heads;
  Operand<const float> fitness;                         // [E]
  Operand<const int32_t> age;                           // [E]
  Operand<const float> best_fitness;                    // []
  Operand<const int32_t> generation;                    // []
  Operand<const float> solutions, sigma;                // [E, D] [E]
  Operand<const int32_t> parent_index;                  // [N]
  Operand<const float> attend, gate_kernel, gate_bias;  // [H, 5, 5] [4, H] [H]
  Operand<float> blended, away;                         // [N, D] [N]

  int64_t units_of_columns() const { return blocks(num_dims, kBlendedColumns); }
  int64_t units_per_run() const { return blocks(num_children, kBlendedRows) * units_of_columns(); }
  int64_t cost_of_unit() const {
    const int64_t columns = num_dims < kBlendedColumns ? num_dims : kBlendedColumns;
    return num_parents * blocks(num_children < kBlendedRows ? num_children : kBlendedRows, kRowBlock) *
           (16 * num_heads + columns);
  }
};

// What each sampled parent's mutation rate is multiplied by.
struct Rate {
  Batch batch;
  int64_t num_children, num_heads;
  Operand<const float> fitness, sigma, best_fitness;  // [N] [N] []
  Operand<const float> attend, value;                 // [H, 6, 6] [H, 6]
  Operand<float> multiplier;                          // [N]

  int64_t units_per_run() const { return blocks(num_children, kRowBlock); }
  int64_t cost_of_unit() const { return 16 * num_children * num_heads; }
};

// Gaussian noise around the sampled parents.
struct Mutate {
  Batch batch;
  int64_t num_parents, num_children, num_dims;
  Operand<const uint32_t> key;          // [2]
  Operand<const float> solutions;       // [E, D]
  Operand<const int32_t> parent_index;  // [N]
  Operand<const float> sigma;           // [N]
  Operand<float> mutated;               // [N, D]

  int64_t units_per_run() const { return blocks(num_children * num_dims, kGenomeBlock); }
  int64_t cost_of_unit() const { return 8 * kGenomeBlock; }
};

// Noise along a path, bent by a matrix, around the origins of the children.
struct Bend {
  Batch batch;
  int64_t num_children, num_dims;
  Operand<const float> start, sigma;           // [N, D] [N]
  Operand<const float> noise, drift, stretch;  // [N, D] [D] [D, D]
  Operand<float> bent;                         // [N, D]

  int64_t units_per_run() const { return 1; }
  int64_t cost_of_unit() const { return num_children * num_dims * num_dims / 8; }
};

// What a generation teaches the path and the matrix, as in operators/shape.py.
struct Adapt {
  Batch batch;
  int64_t num_children, num_dims;
  Operand<const float> fitness, noise;            // [N] [N, D]
  Operand<const float> path, stretch, strengths;  // [D] [D, D] [7]
  Operand<float> new_path, new_stretch, factor;   // [D] [D, D] []

  int64_t units_per_run() const { return 1; }
  int64_t cost_of_unit() const { return num_children * num_dims * num_dims / 4; }
};

// The next archive, gathered from children and parents, and the best so far.
struct Survive {
  Batch batch;
  int64_t num_parents, num_children, num_dims;
  Operand<const int32_t> survivor_index;                                // [E]
  Operand<const float> child_solutions, child_fitness, child_sigma;     // [N, D] [N] [N]
  Operand<const float> parent_solutions, parent_fitness, parent_sigma;  // [E, D] [E] [E]
  Operand<const int32_t> parent_age;                                    // [E]
  Operand<const float> best_solution, best_fitness;                     // [D] []
  Operand<float> solutions, fitness, sigma;                             // [E, D] [E] [E]
  Operand<int32_t> age;                                                 // [E]
  Operand<float> new_best_solution, new_best_fitness;                   // [D] []
  Operand<int32_t> failures;                                            // [] in this generation

  // One unit for each survivor, and one for the best so far.
  int64_t units_per_run() const { return num_parents + 1; }
  int64_t cost_of_unit() const { return num_dims; }
};

// Filters of odd width over images with a border of zeros, and the largest of every 2 x 2 pixels where wanted.
struct Convolve {
  Batch batch;
  int64_t num_images, height, width, num_channels, filter_width, num_filters;
  bool pooled;
  Operand<const float> images;   // [B, H, W, C]
  Operand<const float> filters;  // [K, K, C, F]
  Operand<const float> bias;     // [F]
  Operand<float> convolved;      // [B, H, W, F], or half as high and wide

  int64_t units_per_run() const { return num_images; }
  int64_t cost_of_unit() const {
    return height * width * filter_width * filter_width * num_channels * blocks(num_filters, 16);
  }
};

struct Kernels {
  // The keys number `from`, `from` + 1, ... that a key splits into, two words each.
  void (*split)(const uint32_t* key, int64_t from, int64_t count, uint32_t* keys);
  // Uniform numbers in [0, 1).
  void (*uniform)(const uint32_t* key, int64_t count, float* numbers);
  void (*select)(const Select&, int64_t begin, int64_t end);
  void (*sample)(const Sample&, int64_t begin, int64_t end);
  void (*blend)(const Blend&, int64_t begin, int64_t end);
  void (*rate)(const Rate&, int64_t begin, int64_t end);
  void (*mutate)(const Mutate&, int64_t begin, int64_t end);
  void (*bend)(const Bend&, int64_t begin, int64_t end);
  void (*adapt)(const Adapt&, int64_t begin, int64_t end);
  void (*survive)(const Survive&, int64_t begin, int64_t end);
  void (*convolve)(const Convolve&, int64_t begin, int64_t end);
};

}  // namespace lga
