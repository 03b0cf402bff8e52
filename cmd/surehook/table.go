package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	columnGap = 2 // characters between two columns
	leastText = 8 // characters that a cut keeps of free text
)

// table is text in columns of equal numbers of cells.
type table struct {
	columns []tableColumn
	width   int // of the terminal in characters; 0: nothing is cut
}

// tableColumn is a column with its heading, if any, as the first cell.
type tableColumn struct {
	cells   []string
	least   int  // characters that a cut keeps; 0: the column is never cut
	numbers bool // has a number
	texts   bool // has a value that is no number
}

func (c *tableColumn) add(text string, number bool) {
	c.cells = append(c.cells, text)
	c.numbers = c.numbers || number
	c.texts = c.texts || !number && text != none
}

// widths returns the widths of the columns. While the table is wider than the terminal, the
// widest column that may be cut becomes narrower.
func (t table) widths() []int {
	all := make([]int, len(t.columns))
	total := -columnGap
	for i, c := range t.columns {
		for _, text := range c.cells {
			all[i] = max(all[i], utf8.RuneCountInString(text))
		}
		total += all[i] + columnGap
	}
	for ; t.width > 0 && total > t.width; total-- {
		widest := -1
		for i, c := range t.columns {
			if c.least > 0 && all[i] > c.least && (widest < 0 || all[i] > all[widest]) {
				widest = i
			}
		}
		if widest < 0 { // the terminal breaks the lines
			break
		}
		all[widest]--
	}
	return all
}

// write prints the table. A column of numbers ends at its right edge.
func (t table) write(out io.Writer) error {
	var b strings.Builder
	widths := t.widths()
	for row := range t.columns[0].cells {
		var line strings.Builder
		for i, c := range t.columns {
			text := cut(c.cells[row], widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if c.numbers && !c.texts {
				text = pad + text
			} else {
				text += pad
			}
			if i > 0 {
				line.WriteString(strings.Repeat(" ", columnGap))
			}
			line.WriteString(text)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// cut returns the text with at most size characters, the last one an ellipsis if any is missing.
func cut(text string, size int) string {
	if utf8.RuneCountInString(text) <= size {
		return text
	}
	return string([]rune(text)[:size-1]) + "…"
}
