#include <draftproof/bench/machine.hpp>

#include <ctime>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <draftproof/cli/session.hpp>
#include <draftproof/sim/simd/dispatch.hpp>

namespace draftproof::benchmarks {

namespace {

using Json = nlohmann::ordered_json;

std::string compiler_name() {
#if defined(__clang__)
  const std::string name = "clang " __clang_version__;
#elif defined(__GNUC__)
  const std::string name = "g++ " __VERSION__;
#else
  const std::string name = "unknown compiler";
#endif
#ifdef NDEBUG
  return name;
#else
  return name + ", assertions on";
#endif
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "0000-00-00T00:00:00Z"];
  return {text, std::strftime(text, sizeof text, "%FT%TZ", &parts)};
}

}  // namespace

Json machine_context() {
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
  Json caches = Json::array();
  for (const auto& cache : cpu.caches)
    caches.push_back(
        {{"type", cache.type}, {"level", cache.level}, {"size", cache.size}, {"num_sharing", cache.num_sharing}});
  Json context{{"date", today()},
               {"draftproof", DRAFTPROOF_VERSION},
               {"processor", processor_name()},
               {"num_cpus", cpu.num_cpus},
               {"mhz_per_cpu", static_cast<int>(cpu.cycles_per_second / 1e6 + 0.5)},
               {"caches", std::move(caches)},
               {"load_avg", cpu.load_avg},
               {"compiler", compiler_name()},
               {"vector_path", std::string(simd::name_of(simd::in_use()))}};
  if (cpu.scaling == benchmark::CPUInfo::ENABLED) context["cpu_scaling_enabled"] = true;
  // Before the run, only the shell that starts it adds to the load average, which is below 0.5 on an idle machine.
  if (!cpu.load_avg.empty() && cpu.load_avg.front() > 0.5)
    context["warning"] = fmt::format(
        "load average {:.1f} before the run: other work shares the machine; ratios say "
        "more than times",
        cpu.load_avg.front());
  return context;
}

}  // namespace draftproof::benchmarks
