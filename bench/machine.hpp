// The context of measurements: processor, caches, compiler, vector instructions, load before the run, and date.
#pragma once

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

/// Returns Google Benchmark's context with processor, compiler and vector_path, and a `warning` if other work runs.
nlohmann::ordered_json machine_context();

}  // namespace draftproof::benchmarks
