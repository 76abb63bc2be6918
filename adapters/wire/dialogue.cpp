#include <draftproof/adapters/wire/dialogue.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace draftproof::adapters {

namespace {

/// Holds SIGPIPE back from this thread, and takes the one that a write may have raised.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    if (!pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool pending_;
};

}  // namespace

int milliseconds_to(Peer::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Peer::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

bool ByteExchange::write_some(Peer::Parts& parts, std::size_t& written) {
  constexpr std::size_t large = std::size_t{1} << 17;
  std::array<iovec, 16> vectors;
  std::size_t count = 0;
  // Small parts are copied into the pipe together; the pages of a large part are lent to it, one copy less.
  const bool lends = lends_pages_ && parts[0].size() - written >= large;
  for (; count < std::min(parts.size(), lends ? 1 : vectors.size()); ++count) {
    const auto part = count == 0 ? parts[0].subspan(written) : parts[count];
    if (count > 0 && lends_pages_ && part.size() >= large) break;
    vectors[count] = {const_cast<std::byte*>(part.data()), part.size()};
  }
  const auto sent = lends ? vmsplice(input_, vectors.data(), 1, SPLICE_F_NONBLOCK)
                          : writev(input_, vectors.data(), static_cast<int>(count));
  if (sent < 0) {
    const bool retries = errno == EAGAIN || errno == EINTR;
    const bool unable = lends && !retries && errno != EPIPE;
    if (unable) lends_pages_ = false;
    return retries || unable;
  }
  written += static_cast<std::size_t>(sent);
  while (!parts.empty() && written >= parts[0].size()) {
    written -= parts[0].size();
    parts = parts.subspan(1);
  }
  return true;
}

void ByteExchange::drain_error() {
  constexpr std::size_t kept = 4096, most_at_once = std::size_t{1} << 20;
  char text[4096];
  for (std::size_t drained = 0; error_ >= 0 && drained < most_at_once;) {
    const auto size = read(error_, text, sizeof text);
    if (size < 0 && errno == EINTR) continue;
    if (size == 0) close(std::exchange(error_, -1));
    if (size <= 0) return;
    drained += static_cast<std::size_t>(size);
    tail_.append(text, static_cast<std::size_t>(size));
    if (tail_.size() > kept) tail_.erase(0, tail_.size() - kept);
  }
}

Peer::Exchange ByteExchange::exchange(Peer::Parts parts, ReplySink* reply, Peer::Clock::time_point deadline) {
  const WithoutSigpipe guard;
  std::size_t written = 0;
  while (!parts.empty() && parts[0].empty()) parts = parts.subspan(1);
  while (!parts.empty() || (reply && !reply->complete())) {
    const bool reads = reply && !reply->complete();
    if ((!parts.empty() && input_ < 0) || (reads && output_ < 0)) return Peer::Exchange::closed;
    pollfd events[3] = {
        {parts.empty() ? -1 : input_, POLLOUT, 0}, {reads ? output_ : -1, POLLIN, 0}, {error_, POLLIN, 0}};
    const int left = milliseconds_to(deadline);
    const int ready = poll(events, 3, left);
    if (events[2].revents != 0) drain_error();
    if (left == 0) return Peer::Exchange::late;  // also where bytes flow without an end
    if (ready <= 0) continue;
    if (events[0].revents != 0 && !write_some(parts, written)) return Peer::Exchange::closed;
    if (events[1].revents == 0) continue;
    const auto room = reply->room();
    const auto size = read(output_, room.data(), room.size());
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return Peer::Exchange::closed;
    if (size > 0) reply->filled(static_cast<std::size_t>(size));
  }
  return Peer::Exchange::done;
}

bool ByteExchange::wait_for(int descriptor, short events, Peer::Clock::time_point deadline) {
  while (true) {
    pollfd polled[2] = {{descriptor, events, 0}, {error_, POLLIN, 0}};
    const int left = milliseconds_to(deadline);
    poll(polled, 2, left);
    if (polled[1].revents != 0) drain_error();
    if (polled[0].revents != 0) return true;
    if (left == 0) return false;
  }
}

void ByteExchange::close_input() {
  if (input_ >= 0) close(std::exchange(input_, -1));
}

void ByteExchange::close_all() {
  for (int* fd : {&input_, &output_, &error_})
    if (*fd >= 0) close(std::exchange(*fd, -1));
}

namespace {

using Clock = std::chrono::steady_clock;

void set_row(ServedResult& result, const ServedBatch& batch, int row, RowStatus status, std::string message) {
  result.set(row, status, std::move(message));
  if (batch.randomness == Randomness::scripted) result.log.end_row();
}

constexpr std::string_view more_time = "--door-limit SECONDS gives it more";

double seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

/// "(0 2)", the drafts of a row; of a request to draft, where there are none, "()".
std::string drafts_text(const ServedBatch& batch, int row) {
  if (batch.lengths.empty()) return "()";
  const auto first = static_cast<std::size_t>(row) * static_cast<std::size_t>(batch.drafts_a_row);
  const auto length = static_cast<std::size_t>(batch.lengths[static_cast<std::size_t>(row)]);
  return fmt::format("({})", fmt::join(batch.drafts.subspan(first, length), " "));
}

}  // namespace

Dialogue::Dialogue(Address address, ConnectionOptions options, std::chrono::milliseconds batch_limit,
                   bool shares_rows)
    : address_(std::move(address)),
      options_(std::move(options)),
      batch_limit_(batch_limit),
      shares_rows_(shares_rows) {
  connect();
  declaration_ = connection_->declaration();
  constexpr int widest_line = 64;
  int& most = declaration_.most_vocabulary;
  if (connection_->form() == Form::lines) most = most == 0 ? widest_line : std::min(most, widest_line);
}

void Dialogue::connect() {
  connection_ = std::make_unique<Connection>(address_, options_, shares_rows_ ? &region_ : nullptr);
}

void Dialogue::start_again() {
  if (connection_) return;
  const nlohmann::json before = to_json(declaration_);
  connect();
  nlohmann::json now = to_json(connection_->declaration());
  now["most_vocabulary"] = declaration_.most_vocabulary;
  if (now != before)
    throw DoorError(fmt::format("{}: hello: found another declaration after a {}, {}, wanted {}", address_.name(),
                                address_.listens() ? "new connection" : "restart", now.dump(), before.dump()));
}

std::chrono::milliseconds Dialogue::limit_for(int rows, bool halved) const {
  // The search for a row that hangs has a request for each halving. A part of several rows may be cut short: its rows
  // are asked alone later, each with the whole limit.
  if (!halved || rows == 1 || slowest_row_ == 0) return batch_limit_;
  constexpr double patience = 100, least_ms = 2000;
  const double usual_ms = 1000 * slowest_row_ * rows;
  return std::min(batch_limit_, std::chrono::milliseconds(static_cast<long>(least_ms + patience * usual_ms)));
}

Message Dialogue::reply_to(Message& request, ReplyLimit most, std::chrono::milliseconds limit) {
  if (!stopped_.empty()) throw ProgramSilent(stopped_);
  start_again();
  Message reply = connection_->ask(request, most, limit);
  try {
    check_reply_type(reply);
  } catch (const ProgramSilent& silent) {
    stopped_ = silent.what();
    throw;
  }
  return reply;
}

void Dialogue::keep_request(int crash) const {
  const std::filesystem::path file = connection_->dump_file();
  if (file.empty()) return;
  std::error_code error;
  std::filesystem::path kept = file;
  kept.replace_filename(fmt::format("crash-{}{}", crash, file.extension().string()));
  std::filesystem::copy_file(file, kept, std::filesystem::copy_options::overwrite_existing, error);
}

void Dialogue::answer(const ServedBatch& batch, WireFunction ask, ServedResult& result) {
  size_result(batch, ask, result);
  if (batch.rows == 0) return;
  const std::size_t deaths = incidents_.size();
  const int crashed = crashed_rows_;
  answer_part(batch, 0, batch.rows, ask, result, false);
  if (incidents_.size() == deaths || crashed_rows_ != crashed || ++unexplained_ < most_crashes) return;
  if (late_)
    throw ProgramSilent(fmt::format("{} batches had no answer within {:g} s, though each of their rows had; {}",
                                    unexplained_, seconds(batch_limit_), more_time));
  throw DoorError(fmt::format("{}: {} in {} batches, but on no row alone; the last time: {}", address_.name(),
                              address_.listens() ? "lost" : "died", unexplained_, incidents_.back()));
}

void Dialogue::answer_part(const ServedBatch& all, int first, int rows, WireFunction ask, ServedResult& result,
                           bool halved) {
  const ServedBatch batch = slice(all, first, rows);
  std::string why;
  RowStatus status = RowStatus::crashed;
  try {
    Message request = batch_message(batch, ask);
    const auto start = Clock::now();
    const Message reply = reply_to(request, reply_limit(batch, ask), limit_for(rows, halved));
    const std::chrono::duration<double> time = Clock::now() - start;
    read_result(reply, connection_->form(), batch, ask, declaration_.coin_bits, first, result);
    slowest_row_ = std::max(slowest_row_, time.count() / rows);
    return;
  } catch (const ChildLost& lost) {
    why = lost.what();
    incidents_.push_back(fmt::format("{} rows: {}", rows, why));
    if (rows == 1) keep_request(crashed_rows_ + 1);
    connection_.reset();
    late_ = dynamic_cast<const ChildLate*>(&lost) != nullptr;
    if (late_ && rows == 1)
      throw ProgramSilent(fmt::format("did not answer within {:g} s on drafts {} at V = {}; {}",
                                      seconds(batch_limit_), drafts_text(batch, 0), batch.vocabulary, more_time));
    if (crashed_rows_ >= most_crashes)
      throw DoorError(fmt::format("{}: found {} rows that {}, drafts {}, and another {}: {}", address_.name(),
                                  crashed_rows_, address_.listens() ? "end the connection" : "kill the program",
                                  fmt::join(killers_, ", "), address_.listens() ? "loss" : "death", why));
  } catch (const BatchRefused& refused) {
    why = refused.what();
    status = RowStatus::failed;
  }
  if (rows == 1) {
    if (status == RowStatus::crashed) {
      ++crashed_rows_;
      killers_.push_back(drafts_text(batch, 0));
    }
    return set_row(result, all, first, status, why);
  }
  const int half = rows / 2;
  answer_part(all, first, half, ask, result, true);
  answer_part(all, first + half, rows - half, ask, result, true);
}

Message Dialogue::ask(Message& request, ReplyLimit most) {
  try {
    return reply_to(request, most, batch_limit_);
  } catch (const ChildLost& lost) {
    incidents_.emplace_back(lost.what());
    connection_.reset();
    if (dynamic_cast<const ChildLate*>(&lost) != nullptr)
      throw ProgramSilent(fmt::format("did not answer within {:g} s; {}", seconds(batch_limit_), more_time));
    throw DoorError(fmt::format("{}: {}: {}", address_.name(), request.fields["type"].dump(), lost.what()));
  } catch (const BatchRefused& refused) {
    throw DoorError(
        fmt::format("{}: {}: refused: {}", address_.name(), request.fields["type"].dump(), refused.what()));
  }
}

}  // namespace draftproof::adapters
