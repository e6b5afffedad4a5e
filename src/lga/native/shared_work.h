// Kernels run in the thread that calls, or spread over XLA's own threads where that is worth it.

#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "kernels.h"
#include "xla/ffi/api/ffi.h"

namespace lga {

// Calls below this cost (in vector operations, about) are over before another thread is awake.
constexpr int64_t kCostOfWaking = 1 << 19;

// Units that are handed out in portions to whichever thread asks next.
template <typename Call>
struct SharedWork {
  Call call;
  void (*kernel)(const Call&, int64_t, int64_t);
  int64_t num_units, portion;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  int64_t num_done = 0;

  void take_part() {
    int64_t begin;
    while ((begin = next.fetch_add(portion)) < num_units) {
      const int64_t end = begin + portion < num_units ? begin + portion : num_units;
      kernel(call, begin, end);
      std::lock_guard<std::mutex> lock(mutex);
      num_done += end - begin;
      if (num_done == num_units) finished.notify_all();
    }
  }
};

template <typename Call>
void run(const Call& call, void (*kernel)(const Call&, int64_t, int64_t), xla::ffi::ThreadPool& pool) {
  const int64_t num_units = call.batch.count * call.units_per_run();
  const int64_t num_threads = num_units * call.cost_of_unit() < kCostOfWaking ? 1 : pool.num_threads();
  if (num_threads <= 1) {
    kernel(call, 0, num_units);
    return;
  }
  auto work = std::make_shared<SharedWork<Call>>();
  work->call = call;
  work->kernel = kernel;
  work->num_units = num_units;
  // A few portions per thread, so that a late one does not hold up the others.
  work->portion = blocks(num_units, 4 * num_threads);
  for (int64_t helper = 1; helper < num_threads; ++helper) pool.Schedule([work] { work->take_part(); });
  // This thread works too, and then waits only for portions that others have begun: it never waits for a free thread.
  work->take_part();
  std::unique_lock<std::mutex> lock(work->mutex);
  work->finished.wait(lock, [&] { return work->num_done == num_units; });
}

}  // namespace lga
