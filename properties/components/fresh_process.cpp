#include <draftproof/properties/components/component_group.hpp>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace draftproof {

namespace {

constexpr char answer_yes = 'y', answer_no = 'n', answer_none = '?';

/// Reads one message from the socket and returns it, or an empty text if the socket was closed.
std::string receive(int socket) {
  std::array<char, 1 << 16> bytes;
  ssize_t size = 0;
  do size = recv(socket, bytes.data(), bytes.size(), 0);
  while (size < 0 && errno == EINTR);
  return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

bool tell(int socket, const std::string& message) {
  return send(socket, message.data(), message.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
}

void wait_for(pid_t child, int& status) {
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

/// Answers questions until the socket is closed or a message of one byte arrives.
void serve(int socket, const FreshProcess::Answer& answer) {
  for (std::string question = receive(socket); question.size() > 1; question = receive(socket)) {
    const pid_t child = fork();
    if (child == 0) _exit(answer(question) ? 1 : 0);
    int status = 0;
    if (child > 0) wait_for(child, status);
    const bool held = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    tell(socket, std::string(1, child < 0 ? answer_none : held ? answer_no : answer_yes));
  }
}

}  // namespace

FreshProcess::FreshProcess(const Answer& answer) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  copy_ = fork();
  if (copy_ == 0) {
    close(ends[0]);
    serve(ends[1], answer);
    _exit(0);
  }
  close(ends[1]);
  socket_ = ends[0];
}

FreshProcess::~FreshProcess() {
  if (socket_ < 0) return;
  tell(socket_, " ");  // ends the copy: close() alone does not, because later forks inherit the socket
  close(socket_);
  int status = 0;
  if (copy_ > 0) wait_for(copy_, status);
}

std::optional<bool> FreshProcess::ask(const std::string& question) const {
  if (copy_ < 0 || !tell(socket_, question)) return std::nullopt;
  const std::string answer = receive(socket_);
  if (answer.empty() || answer.front() == answer_none) return std::nullopt;
  return answer.front() == answer_yes;
}

}  // namespace draftproof
