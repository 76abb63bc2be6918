// Adds the commands of bench/commands/ to the program, and plots of costs to pages. No code refers to this object, so
// the library's link option `-u draftproof_with_bench` makes the linker take it from the archive.
#include <draftproof/bench/page/page.hpp>

namespace draftproof::found {
void bench_commands();  // generated
}

extern "C" {
extern bool draftproof_with_bench;
bool draftproof_with_bench = (draftproof::found::bench_commands(), draftproof::benchmarks::add_to_pages());
}
