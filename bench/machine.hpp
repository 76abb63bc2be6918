// What a figure cannot be read without: processor, caches, compiler, which vector instructions, how busy the machine
// was before the run, and when.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace draftproof::benchmarks {

/// The widest vector instructions the processor has: what code that chooses at run time can take.
std::string vector_path();

/// Google Benchmark's context, with processor, compiler and vector_path, and a `warning` if other work runs.
nlohmann::ordered_json machine_context();

}  // namespace draftproof::benchmarks
