#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// The text escaped for HTML and XML.
[[nodiscard]] std::string markup_text(std::string_view text);

/// A page of headings, paragraphs, lists, tables and preformatted text, rendered as Markdown or
/// HTML. Text is literal: markup in it is escaped.
class Document {
 public:
  using Row = std::vector<std::string>;

  void heading(int level, std::string text);  ///< 1 to 3
  void paragraph(std::string text);
  void list(std::vector<std::string> lines);  ///< nothing if empty
  /// the first row is the header; all rows have the same number of cells
  void table(std::vector<Row> rows);
  void preformatted(std::string text);
  /// HTML that is inserted verbatim; left out of the Markdown.
  void figure(std::string html);

  [[nodiscard]] std::string markdown() const;
  /// A complete, self-contained page.
  [[nodiscard]] std::string html() const;

 private:
  enum class Kind { heading, paragraph, list, table, preformatted, figure };
  struct Block {
    Kind kind;
    int level = 0;
    std::vector<Row> rows;  ///< one cell each, except for tables
  };
  std::vector<Block> blocks_;
};

}  // namespace warpath
