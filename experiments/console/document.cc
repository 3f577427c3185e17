#include "experiments/console/document.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace warpath {
namespace {

constexpr std::string_view kStyle = R"(
:root{--ink:#1d2733;--soft:#5c6a78;--line:#e2e7ec;--back:#f6f8fa;--accent:#2563a8;--good:#2b7a4b;
--bad:#b0443a;--added:#e6f4ea;--removed:#fbeae8}
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;max-width:76rem;margin:0 auto;
padding:1.5rem 1.5rem 4rem;color:var(--ink);background:#fff}
h1,h2,h3{line-height:1.25;font-weight:600}h2{margin:2.4rem 0 .6rem;font-size:1.25rem}
h3{margin:1.4rem 0 .4rem;font-size:1.05rem}p{margin:.5rem 0;max-width:60rem}a{color:var(--accent)}
table{border-collapse:collapse;margin:.8rem 0;display:block;overflow-x:auto;font-size:14px}
td,th{border-bottom:1px solid var(--line);padding:.3rem .8rem .3rem 0;text-align:left;
vertical-align:top;font-variant-numeric:tabular-nums}th{color:var(--soft);font-weight:500}
pre,code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
pre{background:var(--back);padding:.8rem 1rem;overflow-x:auto;border-radius:6px}
.added{background:var(--added)}.removed{background:var(--removed)}.place{color:var(--soft)}
.added,.removed,.place{display:block}
details{margin:.8rem 0}summary{cursor:pointer;color:var(--accent)}
figure{margin:1rem 0}svg{max-width:100%;height:auto}
@media print{body{padding:0;font-size:11px}pre{white-space:pre-wrap;overflow:visible}
h2{break-after:avoid}tr,figure{break-inside:avoid}}
)";

/// Escapes characters that would be markup at their place; line feeds would end a cell.
std::string plain_markdown(std::string_view text, bool in_cell) {
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  const bool has_link = text.find("](") != std::string_view::npos;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool marks =
        std::string_view("\\`*<").find(c) != std::string_view::npos || (c == '|' && in_cell) ||
        (c == '[' && has_link) || (c == '_' && !(i > 0 && in_word(i - 1) && in_word(i + 1))) ||
        (std::string_view("#>-+").find(c) != std::string_view::npos && i == 0 && !in_cell);
    if (marks) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// More back quotes than any line of the text begins with.
std::string fence_for(std::string_view text) {
  std::size_t most = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    most = std::max(most, run);
  }
  return std::string(most + 1, '`');
}

std::string markdown_row(const Document::Row& row) {
  std::string out = "|";
  for (const std::string& cell : row) out += " " + plain_markdown(cell, true) + " |";
  return out + "\n";
}

/// `link`: where the first cell leads; empty: nowhere.
std::string html_row(const Document::Row& row,
                     const std::string& tag,
                     const std::string& link = {}) {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string cell = markup_text(row[i]);
    out += "<" + tag + ">" +
           (i == 0 && !link.empty() ? "<a href=\"" + markup_text(link) + "\">" + cell + "</a>"
                                    : cell) +
           "</" + tag + ">";
  }
  return out + "</tr>\n";
}

/// The lines of a unified diff by what becomes of them.
std::string html_difference(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const bool place = line.starts_with("+++") || line.starts_with("---") || line.starts_with("@@");
    const char* const kind = place                   ? "place"
                             : line.starts_with('+') ? "added"
                             : line.starts_with('-') ? "removed"
                                                     : nullptr;
    out += kind == nullptr
               ? markup_text(line) + "\n"
               : "<span class=\"" + std::string(kind) + "\">" + markup_text(line) + "</span>";
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_in_markup(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

void Document::heading(int level, std::string text) {
  blocks_.push_back({Kind::heading, level, {{std::move(text)}}});
}
void Document::paragraph(std::string text) {
  blocks_.push_back({Kind::paragraph, 0, {{std::move(text)}}});
}
void Document::preformatted(std::string text) {
  blocks_.push_back({Kind::preformatted, 0, {{std::move(text)}}});
}
void Document::difference(std::string text) {
  if (!text.empty()) blocks_.push_back({Kind::difference, 0, {{std::move(text)}}});
}
void Document::fold(std::string title) {
  blocks_.push_back({Kind::fold, 0, {{std::move(title)}}});
}
void Document::unfold() {
  blocks_.push_back({Kind::unfold, 0, {{""}}});
}
void Document::table(std::vector<Row> rows, TableLooks looks) {
  blocks_.push_back({Kind::table, 0, std::move(rows), std::move(looks)});
}
void Document::element(std::string html) {
  blocks_.push_back({Kind::figure, 0, {{std::move(html)}}});
}
void Document::append(const Document& other) {
  blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
}
void Document::list(std::vector<std::string> lines) {
  if (lines.empty()) return;
  Block block{Kind::list, 0, {}};
  for (std::string& line : lines) block.rows.push_back({std::move(line)});
  blocks_.push_back(std::move(block));
}

std::string Document::markdown_of(const Block& block) {
  const std::string& first = block.rows.front().front();
  std::string out;
  switch (block.kind) {
    case Kind::heading:
      return std::string(static_cast<std::size_t>(block.level), '#') + " " +
             plain_markdown(first, false) + "\n";
    case Kind::paragraph:
    case Kind::fold:
      return plain_markdown(first, false) + "\n";
    case Kind::list:
      for (const Row& row : block.rows) out += "- " + plain_markdown(row.front(), false) + "\n";
      return out;
    case Kind::preformatted:
    case Kind::difference: {
      const std::string fence = fence_for(first);
      return fence + (block.kind == Kind::difference ? "diff\n" : "\n") + first +
             (first.ends_with('\n') ? "" : "\n") + fence + "\n";
    }
    case Kind::table:
      out = markdown_row(block.rows.front()) + markdown_row(Row(block.rows.front().size(), "---"));
      for (std::size_t i = 1; i < block.rows.size(); ++i) out += markdown_row(block.rows[i]);
      return out;
    case Kind::unfold:
    case Kind::figure:
      break;
  }
  return {};
}

std::string Document::markdown() const {
  std::string out;
  for (const Block& block : blocks_) {
    const std::string text = markdown_of(block);
    if (!text.empty()) out += (out.empty() ? "" : "\n") + text;
  }
  return out;
}

std::string Document::html_of(const Block& block) {
  const std::string& text = block.rows.front().front();
  std::string out;
  switch (block.kind) {
    case Kind::heading: {
      const std::string tag = "h" + std::to_string(block.level);
      return "<" + tag + ">" + markup_text(text) + "</" + tag + ">\n";
    }
    case Kind::paragraph:
      return "<p>" + markup_text(text) + "</p>\n";
    case Kind::preformatted:
      return "<pre>" + markup_text(text) + "</pre>\n";
    case Kind::difference:
      return "<pre>" + html_difference(text) + "</pre>\n";
    case Kind::fold:
      return "<details><summary>" + markup_text(text) + "</summary>\n";
    case Kind::unfold:
      return "</details>\n";
    case Kind::figure:
      return text;
    case Kind::list:
      for (const Row& row : block.rows) out += "<li>" + markup_text(row.front()) + "</li>\n";
      return "<ul>\n" + out + "</ul>\n";
    case Kind::table: {
      const auto link = [&](std::size_t i) {
        return i < block.looks.links.size() ? block.looks.links[i] : std::string();
      };
      out = html_row(block.rows.front(), "th");
      for (std::size_t i = 1; i < block.rows.size(); ++i)
        out += html_row(block.rows[i], "td", link(i - 1));
      return (block.looks.kind.empty() ? "<table>\n"
                                       : "<table class=\"" + block.looks.kind + "\">\n") +
             out + "</table>\n";
    }
  }
  return {};
}

std::string Document::html_body() const {
  std::string out;
  for (const Block& block : blocks_) out += html_of(block);
  return out;
}

std::string Document::html(const Attachments& attachments) const {
  const auto first = std::ranges::find(blocks_, Kind::heading, &Block::kind);
  const std::string title = !attachments.title.empty() || first == blocks_.end()
                                ? markup_text(attachments.title)
                                : markup_text(first->rows.front().front());
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>" +
      title + "</title><style>" + std::string(kStyle) + attachments.style +
      "</style></head><body>\n" + html_body();
  if (!attachments.data.empty())
    out += "<script type=\"application/json\" id=\"data\">" + json_in_markup(attachments.data) +
           "</script>\n";
  for (const std::string& script : attachments.scripts)
    out += "<script>\n" + script + "\n</script>\n";
  return out + "</body></html>\n";
}

}  // namespace warpath
