#pragma once

#include <string>
#include <vector>

namespace warpath {

/// A page of headings, paragraphs, lists, tables and preformatted text, written once and read as
/// Markdown or as HTML. Every text is taken as it is: nothing in it is markup.
class Document {
 public:
  using Row = std::vector<std::string>;

  void heading(int level, std::string text);  ///< 1 to 3
  void paragraph(std::string text);
  void list(std::vector<std::string> lines);  ///< nothing if empty
  /// the first is the head; all have as many cells
  void table(std::vector<Row> rows);
  void preformatted(std::string text);

  [[nodiscard]] std::string markdown() const;
  /// A whole page without anything from elsewhere.
  [[nodiscard]] std::string html() const;

 private:
  enum class Kind { heading, paragraph, list, table, preformatted };
  struct Block {
    Kind kind;
    int level = 0;
    std::vector<Row> rows;  ///< of anything but tables: one cell each
  };
  std::vector<Block> blocks_;
};

}  // namespace warpath
