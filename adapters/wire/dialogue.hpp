// Asks a door for the answers to batches of rows, and goes on when the program is lost: it is started or connected to
// again, and the batch is halved down to the row that does it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <draftproof/adapters/wire/connection.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>

namespace draftproof::adapters {

class Dialogue {
 public:
  /// Opens the first connection. `batch_limit` is the time for one answer. Throws: DoorError.
  /// With `shares_rows` large rows lie in memory that the program maps, if it says that it does.
  Dialogue(Address address, ConnectionOptions options, std::chrono::milliseconds batch_limit,
           bool shares_rows = true);

  const Declaration& declaration() const { return declaration_; }

  /// The answer to `batch`, which is sent as one request while the program lives. A row on which it dies
  /// or writes no message has the status crashed; a row that it refuses alone has the status failed; others are
  /// unharmed.
  /// Throws: ProgramSilent if a row alone has no answer within the limit, or several batches whose rows alone have one;
  /// DoorError if a result is wrong, or if the program dies after `most_crashes` rows killed it or as many
  /// of its deaths came from no row alone.
  void answer(const ServedBatch& batch, WireFunction ask, ServedResult& result);

  /// The reply to a request without rows. Throws: DoorError, also if the program dies on it.
  /// Both throw ProgramSilent from the reply on that says that the program answers no more.
  Message ask(Message& request, ReplyLimit most);

  /// Where rows of the next batch are not copied any more; null if the program does not map it.
  SharedRegion* region() { return connection_ && connection_->shares_rows() ? &region_ : nullptr; }

  /// What happened to the process or connection so far, a line for each loss.
  const std::vector<std::string>& incidents() const { return incidents_; }

  static constexpr int most_crashes = 3;

 private:
  void answer_part(const ServedBatch& all, int first, int rows, WireFunction ask, ServedResult& result, bool halved);
  Message reply_to(Message& request, ReplyLimit most, std::chrono::milliseconds limit);
  std::chrono::milliseconds limit_for(int rows, bool halved) const;
  void connect();
  void start_again();
  void keep_request(int crash) const;

  Address address_;
  ConnectionOptions options_;
  std::chrono::milliseconds batch_limit_;
  bool shares_rows_;
  SharedRegion region_;  // of all connections, one after the other
  std::unique_ptr<Connection> connection_;
  Declaration declaration_;
  std::string stopped_;  // what the program said when it answered for the last time
  std::vector<std::string> incidents_;
  int crashed_rows_ = 0, unexplained_ = 0;
  bool late_ = false;                 // whether the last loss was by silence
  std::vector<std::string> killers_;  ///< drafts of the rows on which the program died alone
  double slowest_row_ = 0;            // seconds a row, of the answers so far
};

}  // namespace draftproof::adapters
