// Sums of scaled rows: products of small matrices.

#pragma once

#include "scratch.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// Sums that grow side by side: each vector that is loaded serves all of them, and none waits for its own last term.
constexpr int64_t kSideBySide = kLanes < 8 ? kLanes : 8;

// The factors of sum number i lie at `first` + i * `next_sum`, one for each row, `next_row` apart.
struct Factors {
  const float* first;
  int64_t next_sum, next_row;
};

// `sums[i]` is the sum over all rows of the i-th factor times a vector of the row; `vector(row)` says where that lies.
template <int64_t kSums, typename Vector>
inline void sums_of_rows(int64_t num_rows, Factors factors, Vector vector, Floats (&sums)[kSums]) {
  for (int64_t i = 0; i < kSums; ++i) sums[i] = Floats{};
  for (int64_t block = 0; block < num_rows; block += kSumBlock) {
    Floats recent[kSums] = {};
    for (int64_t row = block; row < least(block + kSumBlock, num_rows); ++row) {
      const Floats numbers = load(vector(row));
      const float* factor = factors.first + row * factors.next_row;
#pragma GCC unroll 8
      for (int64_t i = 0; i < kSums; ++i) recent[i] += factor[i * factors.next_sum] * numbers;
    }
    for (int64_t i = 0; i < kSums; ++i) sums[i] += recent[i];
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
