// The ranks of an MPI job. A program that is built without MPI, or started without a launcher, is one rank.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace draftproof {

/// A message to rank 0: it has the rank's computed blocks, or the error that ended the rank and its exit code.
struct RankMessage {
  int code = 0;  ///< exit code; if 0, `text` has the bytes of the rank's checkpoint, else the error
  std::string text{};
};

/// The error that ended another rank.
class RankFailure : public std::runtime_error {
 public:
  RankFailure(int exit_code, const std::string& text) : std::runtime_error(text), code{exit_code} {}
  int code;
};

/// Returns the rank of this process and the number of ranks, at least 1. The first call joins the job.
std::pair<int, int> rank_of_job();

/// On rank r > 0: sends the message to rank 0.
void send_to_first(const RankMessage& message);
/// On rank 0: calls `take` with the message of every other rank, in the order of arrival.
void receive_from_all(const std::function<void(int rank, const RankMessage& message)>& take);
/// Ends all ranks with this exit code (MPI_Abort); does nothing in a job of one rank.
void abort_ranks(int code);
/// Leaves the job (MPI_Finalize); does nothing in a job of one rank.
void leave_job();

}  // namespace draftproof
