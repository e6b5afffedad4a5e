// Which of the tables of kernels is in use.

#pragma once

#include "kernels.h"

namespace lga {

const Kernels& chosen_kernels();

}  // namespace lga
