// Puts the commands of bench/commands/ among those of the program. The library's users link it with this symbol
// undefined, which takes the object out of the archive; the program itself never names it.
namespace draftproof::found {
void bench_commands();  // generated
}

extern "C" {
extern bool draftproof_with_bench;
bool draftproof_with_bench = (draftproof::found::bench_commands(), true);
}
