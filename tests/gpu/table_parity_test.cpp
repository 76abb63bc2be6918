// Compares views of tables, in host memory, with the tables: every distribution, verifier, mutant and drafter that
// runs on a view.
#include <cstdio>

#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/table_parity.hpp>

namespace draftproof::found {
void table_parity_everything();
}

int main() {
  return draftproof::parity::outcome([] {
    draftproof::found::table_parity_everything();
    int mismatches =
        draftproof::parity::run({.vocabularies = {1, 2, 7, 33, 100}, .drafts = {1, 2, 3, 8}, .trials = 1000});
    mismatches += draftproof::parity::run({.vocabularies = {1100}, .drafts = {2, 4}, .trials = 150});
    return mismatches == 0 ? 0 : 1;
  });
}
