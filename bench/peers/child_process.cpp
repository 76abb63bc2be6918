#include <draftproof/bench/peers/child_process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace draftproof::benchmarks {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns `added` and the variables of this process that `added` does not replace.
std::vector<std::string> joined_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view variable(*entry);
    bool replaced = false;
    for (const std::string& word : added)
      replaced = replaced || variable.starts_with(std::string_view(word).substr(0, word.find('=') + 1));
    if (!replaced) all.emplace_back(variable);
  }
  return all;
}

/// Reads the child's two output streams together to their ends. If one were read first, the child would block once the
/// pipe of the other is full.
void read_all(std::array<int, 2> descriptors, std::array<std::string*, 2> texts) {
  std::array<pollfd, 2> wanted{pollfd{descriptors[0], POLLIN, 0}, pollfd{descriptors[1], POLLIN, 0}};
  while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
    if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < 2; ++i) {
      if (wanted[i].fd < 0 || wanted[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t count = read(wanted[i].fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count > 0)
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      else
        wanted[i].fd = -1;
    }
  }
}

}  // namespace

Finished run_child(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  Finished finished;
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0) return finished;
  if (pipe2(err.data(), O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    return finished;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  std::vector<std::string> arguments = words, variables = joined_environment(environment);
  pid_t process = -1;
  const int error = posix_spawnp(&process, words.front().c_str(), &actions, nullptr, pointers_to(arguments).data(),
                                 pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  if (error == 0) {
    read_all({out[0], err[0]}, {&finished.out, &finished.err});
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    finished.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  } else {
    finished.err = words.front() + ": " + std::strerror(error);
  }
  close(out[0]);
  close(err[0]);
  return finished;
}

}  // namespace draftproof::benchmarks
