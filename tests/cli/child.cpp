#include <draftproof/tests/cli/child.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace draftproof {

namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

struct Ends {
  int ours, childs;
};

Ends open_ends(Stream stream) {
  if (stream == Stream::pipe) {
    std::array<int, 2> ends{};
    checked(pipe2(ends.data(), O_CLOEXEC), "pipe");
    return {ends[0], ends[1]};
  }
  const int ours = checked(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "posix_openpt");
  checked(grantpt(ours), "grantpt");
  checked(unlockpt(ours), "unlockpt");
  return {ours, checked(open(ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC), "open terminal")};
}

}  // namespace

bool Child::has_terminals() {
  const int ours = posix_openpt(O_RDWR | O_NOCTTY);
  if (ours < 0) return false;
  const bool usable = grantpt(ours) == 0 && unlockpt(ours) == 0 && ptsname(ours) != nullptr;
  close(ours);
  return usable;
}

Child::Child(const std::vector<std::string>& arguments, Stream out, Stream err,
             const std::vector<std::string>& environment) {
  const Ends out_ends = open_ends(out), err_ends = open_ends(err);
  std::vector<char*> words{const_cast<char*>(DRAFTPROOF_PROGRAM)};
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  // The environment of the child: the caller's NO_COLOR or TERM must not affect the test; what sanitizers are told must.
  std::vector<char*> variables;
  for (char** each = environ; *each != nullptr; ++each)
    if (std::strstr(*each, "SAN_OPTIONS=") != nullptr) variables.push_back(*each);
  for (const auto& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  process_ = checked(fork(), "fork");
  if (process_ == 0) {
    dup2(out_ends.childs, STDOUT_FILENO);
    dup2(err_ends.childs, STDERR_FILENO);
    execve(DRAFTPROOF_PROGRAM, words.data(), variables.data());
    _exit(126);
  }
  close(out_ends.childs);
  close(err_ends.childs);
  out_.descriptor = out_ends.ours;
  err_.descriptor = err_ends.ours;
}

Child::~Child() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  for (const Reader* reader : {&out_, &err_})
    if (reader->descriptor >= 0) close(reader->descriptor);
}

bool Child::read_some() {
  std::array<pollfd, 2> wanted{pollfd{out_.descriptor, POLLIN, 0}, pollfd{err_.descriptor, POLLIN, 0}};
  if (out_.descriptor < 0 && err_.descriptor < 0) return false;
  if (poll(wanted.data(), wanted.size(), -1) < 0) return errno == EINTR;
  const std::array<Reader*, 2> readers{&out_, &err_};
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (wanted[i].revents == 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t count = read(readers[i]->descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) {
      readers[i]->text.append(buffer.data(), static_cast<std::size_t>(count));
    } else {  // a pipe ends with 0, a terminal with EIO
      close(readers[i]->descriptor);
      readers[i]->descriptor = -1;
    }
  }
  return true;
}

bool Child::wait_for_error(const std::string& text) {
  while (err_.text.find(text) == std::string::npos)
    if (!read_some()) return false;
  return true;
}

void Child::signal(int number) const { kill(process_, number); }

int Child::finish() {
  while (read_some()) continue;
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace draftproof
