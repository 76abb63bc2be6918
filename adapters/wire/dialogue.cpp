#include <draftproof/adapters/wire/dialogue.hpp>

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace draftproof::adapters {

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
