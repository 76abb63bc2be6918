#include <draftproof/cli/ranks.hpp>

#include <cstdlib>

#ifdef DRAFTPROOF_WITH_MPI
#include <mpi.h>

#include <algorithm>
#include <array>
#endif

namespace draftproof {

#ifdef DRAFTPROOF_WITH_MPI
namespace {

/// Whether an MPI launcher (such as mpirun) started this process. Without a launcher the program does not call
/// MPI_Init, which takes half a second.
bool launched() {
  constexpr std::array<const char*, 3> variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return std::any_of(variables.begin(), variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

bool joined() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started && !ended;
}

constexpr std::size_t piece = std::size_t{1} << 30;  // counts of MPI are ints

}  // namespace

std::pair<int, int> rank_of_job() {
  static const std::pair<int, int> place = [] {
    if (!launched()) return std::pair{0, 1};
    int rank = 0, count = 1, provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return std::pair{rank, count};
  }();
  return place;
}

void send_to_first(const RankMessage& message) {
  const std::array<unsigned long long, 2> head{static_cast<unsigned long long>(message.code), message.text.size()};
  MPI_Send(head.data(), 2, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
  for (std::size_t at = 0; at < message.text.size(); at += piece)
    MPI_Send(message.text.data() + at, static_cast<int>(std::min(piece, message.text.size() - at)), MPI_BYTE, 0, 1,
             MPI_COMM_WORLD);
}

void receive_from_all(const std::function<void(int rank, const RankMessage& message)>& take) {
  for (int left = rank_of_job().second - 1; left > 0; --left) {
    std::array<unsigned long long, 2> head{};
    MPI_Status status;
    MPI_Recv(head.data(), 2, MPI_UNSIGNED_LONG_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    RankMessage message{static_cast<int>(head[0]), std::string(static_cast<std::size_t>(head[1]), '\0')};
    for (std::size_t at = 0; at < message.text.size(); at += piece)
      MPI_Recv(message.text.data() + at, static_cast<int>(std::min(piece, message.text.size() - at)), MPI_BYTE,
               status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(status.MPI_SOURCE, message);
  }
}

void abort_ranks(int code) {
  if (joined() && rank_of_job().second > 1) MPI_Abort(MPI_COMM_WORLD, code);
}

void leave_job() {
  if (joined()) MPI_Finalize();
}

#else

std::pair<int, int> rank_of_job() { return {0, 1}; }
void send_to_first(const RankMessage&) {}
void receive_from_all(const std::function<void(int, const RankMessage&)>&) {}
void abort_ranks(int) {}
void leave_job() {}

#endif

}  // namespace draftproof
