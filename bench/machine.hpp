// What a figure cannot be read without: processor, caches, compiler, which vector instructions, how busy the machine
// was before the run, and when.
#pragma once

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

/// Google Benchmark's context, with processor, compiler and vector_path, and a `warning` if other work runs.
nlohmann::ordered_json machine_context();

}  // namespace draftproof::benchmarks
