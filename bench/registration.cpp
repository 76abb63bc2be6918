// Adds the commands of bench/commands/ to those of the program, and plots of costs to pages. The library's users link
// it with this symbol undefined, which pulls the object out of the archive; the program itself never names it.
#include <draftproof/bench/page/page.hpp>

namespace draftproof::found {
void bench_commands();  // generated
}

extern "C" {
extern bool draftproof_with_bench;
bool draftproof_with_bench = (draftproof::found::bench_commands(), draftproof::benchmarks::add_to_pages());
}
