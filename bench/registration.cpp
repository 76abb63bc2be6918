// Adds the commands of bench/commands/ to those of the program. The library's users link it with this symbol
// undefined, which pulls the object out of the archive; the program itself never names it.
namespace draftproof::found {
void bench_commands();  // generated
}

extern "C" {
extern bool draftproof_with_bench;
bool draftproof_with_bench = (draftproof::found::bench_commands(), true);
}
