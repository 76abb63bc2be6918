// Batches on which a mutant kernel differs from the correct kernel, and the host's verdicts on them.
//
//   adjacent     rows of V tokens without a gap between them; V is one more than a tile
//   passes       longer rows, for which several rejections per position overwrite the sums of a pass repeatedly
//   far          rows 2^30 entries apart around the middle of their memory, so every 32-bit offset stays inside it
//
// p and q overlap little, so most drafts are rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <draftproof/gpu/batch.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>

namespace draftproof::kernel_mutants {

/// The verifier of all cases, chosen because it uses passes over rows, draws of tokens and flips of coins.
using Verifier = verifiers::RecursiveRejection;

/// A batch whose rows lie in a separate range of addresses, in which only the pages of the rows are mapped.
class KernelCase {
 public:
  /// The memory has `size` entries. The rows of position i begin at entry middle + i * pitch, the target before the
  /// proposal.
  /// Throws: std::runtime_error if there is not enough address space.
  KernelCase(std::string name, int vocabulary, int positions, std::int64_t pitch, std::int64_t middle,
             std::size_t size);

  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }
  float* data() const { return memory_.get(); }
  /// Returns the entries where the pairs of rows begin; a pair has 2 V entries.
  std::span<const std::int64_t> starts() const { return starts_; }
  const gpu::Batch<float>& batch() const { return batch_; }
  std::span<const Token> tuples() const { return tuples_; }
  std::span<const std::int32_t> counts() const { return counts_; }
  std::span<const Verdict> wanted() const { return wanted_; }

 private:
  static constexpr int drafts = 4;
  struct Unmap {
    std::size_t bytes;
    void operator()(float* memory) const;
  };

  void fill(std::int64_t start, std::uint64_t position) const;
  void decide(int position);

  std::string name_;
  std::size_t size_;
  std::unique_ptr<float, Unmap> memory_;
  std::vector<std::int64_t> starts_;
  gpu::Batch<float> batch_;
  std::vector<Token> tuples_;
  std::vector<std::int32_t> counts_;
  std::vector<Verdict> wanted_;
};

/// Returns cases of each kind with `positions` positions; fewer for the kind `far`.
std::vector<std::unique_ptr<KernelCase>> kernel_cases(int positions);

/// Runs a kernel on all cases, with wrong_verdicts(i) on case i, and prints the differences from the host. Returns 1
/// if the correct kernel differs from the host, or if a mutant does not differ.
template <class Wrong>
int judge(const std::string& kernel, bool sound, const std::vector<std::unique_ptr<KernelCase>>& cases,
          const Wrong& wrong_verdicts) {
  int wrong = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const int here = wrong_verdicts(i);
    if (here > 0)
      std::printf("%s, %s: %d of %d verdicts wrong\n", kernel.c_str(), cases[i]->name().c_str(), here,
                  cases[i]->batch().positions);
    wrong += here;
  }
  if ((wrong == 0) == sound) return 0;
  std::printf("%s: %s\n", kernel.c_str(), sound ? "ACCUSED" : "NOT CAUGHT");
  return 1;
}

inline bool same(const Verdict& a, const Verdict& b) { return a.token == b.token && a.accepted == b.accepted; }

}  // namespace draftproof::kernel_mutants
