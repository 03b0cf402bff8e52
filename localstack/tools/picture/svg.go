package picture

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Sizes in pixels.
const (
	column  = 52  // of the grid
	unit    = 34  // of the grid's height
	header  = 76  // above the widgets
	gap     = 8   // between the widgets
	restRow = 1.6 // height, in units, of a row with values only on AWS
)

// Colors: of the page, and of the lines in order.
const (
	ink, faint, ground, paper, rule, alarmed = "#16191f", "#687078", "#f2f3f3", "#ffffff", "#e3e6e8", "#d13212"
)

func palette(i int) string {
	all := []string{
		"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#393b79", "#e6550d",
	}
	return all[i%len(all)]
}

// canvas collects the SVG's elements.
type canvas struct{ b strings.Builder }

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

func (c *canvas) rect(x, y, w, h float64, fill, stroke string) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" stroke="%s"/>`, x, y, w, h, fill, stroke)
}

func (c *canvas) line(x1, y1, x2, y2 float64, stroke, more string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>`, x1, y1, x2, y2, stroke, more)
}

// text writes at the baseline y; anchor is start, middle or end.
func (c *canvas) text(x, y float64, size int, fill, anchor, text string) {
	c.add(`<text x="%.1f" y="%.1f" font-size="%d" fill="%s" text-anchor="%s">%s</text>`, x, y, size, fill, anchor, escape(text))
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// figure formats a number with about three digits.
func figure(x float64) string {
	switch {
	case !known(x):
		return "--"
	case x == math.Trunc(x) && math.Abs(x) < 10_000:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case math.Abs(x) >= 10_000:
		return strconv.FormatFloat(x/1000, 'f', 0, 64) + "k"
	case math.Abs(x) >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// Draw writes the dashboard with the values as an SVG. The caption names the
// source of the values, below the title.
func Draw(w io.Writer, b Board, v *Values, title, caption string) error {
	c := &canvas{}
	places, height := layout(b, v)
	width := 24*column + gap
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" font-family="Helvetica, Arial, sans-serif">`, width, height, width, height)
	c.rect(0, 0, float64(width), height, ground, "none")
	c.text(gap*2, 32, 22, ink, "start", title)
	c.text(gap*2, 56, 13, faint, "start", caption)
	for i, widget := range b.Widgets {
		v.draw(c, widget, places[i])
	}
	c.add("</svg>")
	if _, err := io.WriteString(w, c.b.String()); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// place is a widget's position and size in pixels.
type place struct{ x, y, w, h float64 }

// layout places the widgets as in the grid. A row without values is low.
func layout(b Board, v *Values) (places []place, height float64) {
	empty := map[int]bool{}
	for _, w := range b.Widgets {
		if _, seen := empty[w.Y]; !seen {
			empty[w.Y] = true
		}
		empty[w.Y] = empty[w.Y] && w.Kind == "metric" && !v.has(w)
	}
	top, row := float64(header), -1
	next := top
	for _, w := range b.Widgets {
		if w.Y != row {
			top, row = next, w.Y
		}
		h := float64(w.Height) * unit
		if empty[w.Y] {
			h = restRow * unit
		}
		next = max(next, top+h)
		places = append(places, place{float64(w.X*column + gap), top, float64(w.Width*column - gap), h - gap})
	}
	return places, next + gap
}

func (v *Values) has(w Widget) bool {
	return len(v.allSeries(w.Left)) > 0 || len(v.allSeries(w.Right)) > 0
}
