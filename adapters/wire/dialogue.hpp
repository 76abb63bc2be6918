// The host's dialogue with a program: it starts the program or connects to it, reads its hello message, then sends one
// request at a time. If the program is lost, it is started or connected to again, and the batch is halved until the
// rows that cause the loss are found.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <draftproof/adapters/wire/message.hpp>
#include <draftproof/adapters/wire/process.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>

namespace draftproof::adapters {

struct DialogueOptions {
  /// Limits on the time until the hello message, and on the time for one answer.
  std::chrono::milliseconds hello_limit{20'000}, batch_limit{60'000};
  /// Folder where requests are stored before they are sent, and kept after a crash; empty: requests are not stored.
  std::filesystem::path dump_folder{};
  ChildOptions child{};
  const std::atomic<bool>* stop = nullptr;  ///< once true, no answer is awaited for more than two seconds
};

class Dialogue {
 public:
  /// Starts the program, or connects to it, and reads its hello message. Throws: AdapterError if no hello message
  /// arrives within the limit, or if it declares another major version.
  Dialogue(Address address, DialogueOptions options);
  /// Sends the request to end (`bye`), and after at most one second kills the child or closes the connection.
  ~Dialogue() { say_goodbye(); }
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  const Declaration& declaration() const { return declaration_; }

  /// Answers `batch`, which is sent as one request, or as several after a crash or if it has more than
  /// declaration().most_rows. A row on which the program crashes or writes no message has the status crashed; a row
  /// that the program refuses when it is sent alone has the status failed; other rows are not affected.
  /// Throws: ProgramSilent if a single row has no answer within the limit, or if several batches have none although
  /// each of their rows alone is answered; AdapterError if a result is wrong, or if the program crashes again after
  /// `most_crashes` rows crashed it or after as many crashes that no single row caused.
  void answer(const ServedBatch& batch, WireFunction ask, ServedResult& result);

  /// Returns the reply to a request without rows. Throws: AdapterError, also if the program crashes on the request.
  /// answer() and ask() throw ProgramSilent once a reply announced that the program stops answering.
  Message ask(Message& request, ReplyLimit most);

  /// Returns the losses of the process or connection so far, one line each.
  const std::vector<std::string>& incidents() const { return incidents_; }
  /// Returns the batches so far that were refused, or on which the program was lost, although each of their rows alone
  /// was answered; one line each.
  const std::vector<std::string>& unexplained() const { return unexplained_; }

  static constexpr int most_crashes = 3;

 private:
  struct Lost;
  void connect();
  void start_again();
  void say_goodbye();
  enum class How { ended, late, invalid };  ///< how a program was lost; invalid: its bytes are not a valid message
  [[noreturn]] void lose(const std::string& why, How how = How::ended);
  Message receive(Process::Parts parts, ReplyLimit most, const std::string& place, std::chrono::milliseconds limit);
  Message reply_to(Message& request, ReplyLimit most, std::chrono::milliseconds limit);
  void answer_part(const ServedBatch& all, int first, int rows, WireFunction ask, ServedResult& result, bool halved);
  std::chrono::milliseconds limit_for(int rows, bool halved) const;
  std::filesystem::path dump_file(const std::string& name) const;
  void dump(Process::Parts parts) const;

  Address address_;
  DialogueOptions options_;
  std::unique_ptr<Process> process_;  // null after a loss
  MessageReader reader_;              // reader of this process's replies
  Declaration declaration_;           // declaration by the first process
  std::int64_t last_id_ = 0;          // number of the last request to this process
  std::string refused_;               // why a part of the current batch was refused
  int refused_rows_ = 0;              // number of rows of the current batch that were refused alone
  std::string stopped_;               // message of the reply that announced that no more answers come
  std::vector<std::string> incidents_;
  std::vector<std::string> unexplained_;
  int crashed_rows_ = 0, unexplained_losses_ = 0;
  How last_ = How::ended;  // how the process was last lost
  int invalid_rows_ = 0;   // number of rows, counted in crashed_rows_ too, whose answer was not a valid message
  std::vector<std::string> killers_;  // drafts of each row that gets no valid answer even if sent alone
  double slowest_row_ = 0;            // largest time per row so far, in seconds
};

}  // namespace draftproof::adapters
