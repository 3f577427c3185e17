#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpath {

/// The text escaped for HTML and XML.
[[nodiscard]] std::string markup_text(std::string_view text);

/// The JSON text as it may stand within a script element: no text in it can end the element.
[[nodiscard]] std::string json_in_markup(std::string_view json);

/// A page of headings, paragraphs, lists, tables and preformatted text, rendered as Markdown or
/// HTML. Text is literal: markup in it is escaped.
class Document {
 public:
  using Row = std::vector<std::string>;
  /// Of a table's HTML.
  struct TableLooks {
    std::string kind = {};  ///< a class of the style sheet, or several
    /// by row after the header: where its first cell leads; shorter than the rows, or empty:
    /// nowhere
    std::vector<std::string> links = {};
  };
  /// What a page has beside its text.
  struct Attachments {
    std::string title = {};                 ///< empty: the first heading
    std::string style = {};                 ///< CSS, after the common one
    std::string data = {};                  ///< JSON, for the scripts: the element with id `data`
    std::vector<std::string> scripts = {};  ///< JavaScript without the text "</script", in order
  };

  void heading(int level, std::string text);  ///< 1 to 3
  void paragraph(std::string text);
  void list(std::vector<std::string> lines);  ///< nothing if empty
  /// the first row is the header; all rows have the same number of cells
  void table(std::vector<Row> rows) { table(std::move(rows), {}); }
  void table(std::vector<Row> rows, TableLooks looks);
  void preformatted(std::string text);
  /// a unified diff: its lines are coloured; nothing if empty
  void difference(std::string text);
  /// What follows is behind `title`, shown on a click, until unfold(). In Markdown `title` is a
  /// paragraph before it.
  void fold(std::string title);
  void unfold();
  /// HTML that is inserted verbatim; left out of the Markdown.
  void figure(const std::string& html) { element("<figure>" + html + "</figure>\n"); }
  void element(std::string html);
  /// The blocks of `other`, after those that there are.
  void append(const Document& other);

  [[nodiscard]] std::string markdown() const;
  /// A complete, self-contained page.
  [[nodiscard]] std::string html() const { return html(Attachments{}); }
  [[nodiscard]] std::string html(const Attachments& attachments) const;
  /// Its content alone, for a page that takes it in.
  [[nodiscard]] std::string html_body() const;

 private:
  enum class Kind {
    heading,
    paragraph,
    list,
    table,
    preformatted,
    difference,
    fold,
    unfold,
    figure
  };
  struct Block {
    Kind kind;
    int level = 0;
    std::vector<Row> rows;  ///< one cell each, except for tables
    TableLooks looks = {};
  };
  [[nodiscard]] static std::string markdown_of(const Block& block);
  [[nodiscard]] static std::string html_of(const Block& block);
  std::vector<Block> blocks_;
};

}  // namespace warpath
