// Runs the program as a child process with pipes or a pseudo-terminal as streams; the test reads them while it runs
// and may send signals.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace draftproof {

/// The kind of a stream of the child.
enum class Stream { pipe, terminal };

/// A running `draftproof ARGUMENTS`, killed at the end if it still runs. Waits have no limit except the test's own,
/// so a slow machine is no failure.
class Child {
 public:
  Child(const std::vector<std::string>& arguments, Stream out, Stream err,
        const std::vector<std::string>& environment = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False on machines without pseudo-terminals.
  static bool has_terminals();

  /// Reads both streams until standard error holds `text`; false if the child ends before that.
  bool wait_for_error(const std::string& text);
  void signal(int number) const;
  /// Reads both streams to their ends and returns the exit code, or minus the signal that killed the child.
  int finish();

  const std::string& out() const { return out_.text; }
  const std::string& err() const { return err_.text; }

 private:
  struct Reader {
    int descriptor = -1;
    std::string text{};
  };
  bool read_some();

  Reader out_{}, err_{};
  int process_ = -1;
};

}  // namespace draftproof
