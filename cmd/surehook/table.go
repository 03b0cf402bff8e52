package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	columnGap = 2  // characters between two columns
	leastText = 12 // characters that a cut keeps of free text
)

// table is text in columns of equal numbers of cells.
type table struct {
	columns []tableColumn
	width   int // of the terminal in characters; 0: nothing is cut

	coloured bool
}

// tableColumn is a column with its heading, if any, as the first cell.
type tableColumn struct {
	cells   []string
	least   int  // characters that a cut keeps; 0: the column is never cut
	numbers bool // has a number
	texts   bool // has a value that is no number
	spare   bool // left out if the table is too wide with it
}

func (c *tableColumn) add(text string, number bool) {
	c.cells = append(c.cells, text)
	c.numbers = c.numbers || number
	c.texts = c.texts || !number && text != none
}

// fit leaves out spare columns, the last one first, while the table is too wide even with all cuts.
func (t *table) fit() {
	for i := len(t.columns) - 1; t.width > 0 && i >= 0; i-- {
		total := -columnGap
		for _, n := range t.widths() {
			total += n + columnGap
		}
		if total <= t.width {
			return
		}
		if t.columns[i].spare {
			t.columns = slices.Delete(t.columns, i, i+1)
		}
	}
}

// tones are the colours of words for states, as numbers of ANSI: red, yellow and green.
var tones = map[string]int{ //nolint:gochecknoglobals // a table
	"failing": 31, "disabled": 31, "dead": 31, "degraded": 33, "paused": 33, "retrying": 33, "parked": 33, "delivered": 32, "healthy": 32, "active": 32,
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
	t.fit()
	var b strings.Builder
	widths := t.widths()
	for row := range t.columns[0].cells {
		var line strings.Builder
		for i, c := range t.columns {
			text := cut(c.cells[row], widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if tone := tones[text]; tone > 0 && t.coloured {
				text = fmt.Sprintf("\x1b[%dm%s\x1b[0m", tone, text)
			}
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
