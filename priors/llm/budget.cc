#include "priors/llm/budget.h"

namespace warpath::llm {
namespace {

void add(Spent& to, const Usage& usage, double money, int sign) {
  to.calls += sign;
  to.input_tokens += sign * usage.input;
  to.output_tokens += sign * usage.output;
  to.money += sign * money;
}

Spent sum(const Spent& a, const Spent& b) {
  return {.calls = a.calls + b.calls,
          .input_tokens = a.input_tokens + b.input_tokens,
          .output_tokens = a.output_tokens + b.output_tokens,
          .money = a.money + b.money};
}

}  // namespace

bool Budget::reserve(const Usage& worst, double money) {
  const std::lock_guard lock(mutex_);
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - begin_;
  if (limits_.seconds > 0 && age.count() >= limits_.seconds) return false;
  Spent total = sum(spent_, reserved_);
  add(total, worst, money, 1);
  if (total.calls > limits_.calls || total.input_tokens > limits_.input_tokens ||
      total.output_tokens > limits_.output_tokens || total.money > limits_.money)
    return false;
  add(reserved_, worst, money, 1);
  return true;
}

void Budget::settle(const Usage& worst, double money, const Usage& took, double cost) {
  const std::lock_guard lock(mutex_);
  add(reserved_, worst, money, -1);
  if (reserved_.calls == 0) reserved_.money = 0;  // sums of differences
  add(spent_, took, cost, 1);
}

void Budget::release(const Usage& worst, double money) {
  const std::lock_guard lock(mutex_);
  add(reserved_, worst, money, -1);
  if (reserved_.calls == 0) reserved_.money = 0;
}

void Budget::charge(const Usage& took, double cost) {
  const std::lock_guard lock(mutex_);
  add(spent_, took, cost, 1);
}

Spent Budget::spent() const {
  const std::lock_guard lock(mutex_);
  return spent_;
}

Spent Budget::reserved() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

Spent Budget::charged() const {
  const std::lock_guard lock(mutex_);
  return sum(spent_, reserved_);
}

}  // namespace warpath::llm
