#include "experiments/console/document.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace warpath {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 "
    "1rem;color:#1c2126}"
    "table{border-collapse:collapse;margin:1rem "
    "0;display:block;overflow-x:auto}td,th{border-bottom:1px solid #d5dade;padding:.3rem .7rem;"
    "text-align:left;vertical-align:top}th{background:#f1f4f6}pre{background:#f1f4f6;padding:.8rem;"
    "overflow-x:auto;font-size:13px}"
    "h1,h2,h3{line-height:1.2}figure{margin:1rem 0}svg{max-width:100%;height:auto}";

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

std::string html_row(const Document::Row& row, const std::string& tag) {
  std::string out = "<tr>";
  for (const std::string& cell : row) out += "<" + tag + ">" + markup_text(cell) + "</" + tag + ">";
  return out + "</tr>\n";
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

void Document::heading(int level, std::string text) {
  blocks_.push_back({Kind::heading, level, {{std::move(text)}}});
}
void Document::paragraph(std::string text) {
  blocks_.push_back({Kind::paragraph, 0, {{std::move(text)}}});
}
void Document::preformatted(std::string text) {
  blocks_.push_back({Kind::preformatted, 0, {{std::move(text)}}});
}
void Document::table(std::vector<Row> rows) {
  blocks_.push_back({Kind::table, 0, std::move(rows)});
}
void Document::figure(std::string html) {
  blocks_.push_back({Kind::figure, 0, {{std::move(html)}}});
}
void Document::list(std::vector<std::string> lines) {
  if (lines.empty()) return;
  Block block{Kind::list, 0, {}};
  for (std::string& line : lines) block.rows.push_back({std::move(line)});
  blocks_.push_back(std::move(block));
}

std::string Document::markdown() const {
  std::string out;
  for (const Block& block : blocks_) {
    if (block.kind == Kind::figure) continue;
    if (!out.empty()) out += "\n";
    const std::string& first = block.rows.front().front();
    switch (block.kind) {
      case Kind::heading:
        out += std::string(static_cast<std::size_t>(block.level), '#') + " " +
               plain_markdown(first, false) + "\n";
        break;
      case Kind::paragraph:
        out += plain_markdown(first, false) + "\n";
        break;
      case Kind::list:
        for (const Row& row : block.rows) out += "- " + plain_markdown(row.front(), false) + "\n";
        break;
      case Kind::preformatted: {
        const std::string fence = fence_for(first);
        out += fence + "\n" + first + (first.ends_with('\n') ? "" : "\n") + fence + "\n";
        break;
      }
      case Kind::figure:
        break;
      case Kind::table:
        out += markdown_row(block.rows.front());
        out += markdown_row(Row(block.rows.front().size(), "---"));
        for (std::size_t i = 1; i < block.rows.size(); ++i) out += markdown_row(block.rows[i]);
    }
  }
  return out;
}

std::string Document::html() const {
  std::string title, body;
  for (const Block& block : blocks_) {
    const std::string first = markup_text(block.rows.front().front());
    switch (block.kind) {
      case Kind::heading: {
        const std::string tag = "h" + std::to_string(block.level);
        body += "<" + tag + ">" + first + "</" + tag + ">\n";
        if (title.empty()) title = first;
        break;
      }
      case Kind::paragraph:
        body += "<p>" + first + "</p>\n";
        break;
      case Kind::preformatted:
        body += "<pre>" + first + "</pre>\n";
        break;
      case Kind::figure:
        body += "<figure>" + block.rows.front().front() + "</figure>\n";
        break;
      case Kind::list:
        body += "<ul>\n";
        for (const Row& row : block.rows) body += "<li>" + markup_text(row.front()) + "</li>\n";
        body += "</ul>\n";
        break;
      case Kind::table:
        body += "<table>\n" + html_row(block.rows.front(), "th");
        for (std::size_t i = 1; i < block.rows.size(); ++i) body += html_row(block.rows[i], "td");
        body += "</table>\n";
    }
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\"><title>" +
         title + "</title><style>" + std::string(kStyle) + "</style></head><body>\n" + body +
         "</body></html>\n";
}

}  // namespace warpath
