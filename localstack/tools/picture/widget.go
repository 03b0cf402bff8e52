package picture

import "strings"

// draw draws one widget.
func (v *Values) draw(c *canvas, w Widget, p place) {
	c.rect(p.x, p.y, p.w, p.h, paper, rule)
	switch w.Kind {
	case "text":
		drawText(c, w.Markdown, p)
		return
	case "alarm":
		drawAlarms(c, w, p)
		return
	}
	c.text(p.x+10, p.y+20, 13, ink, "start", w.Title)
	switch {
	case !v.has(w):
		c.text(p.x+10, p.y+38, 12, faint, "start", "from AWS, not on this machine")
	case w.View == "singleValue":
		c.text(p.x+10, p.y+66, 34, ink, "start", figure(v.allSeries(w.Left)[0].last()))
	default:
		drawLines(c, v, w, inner(p))
	}
}

// inner returns the part of a widget inside the axes.
func inner(p place) place { return place{p.x + 42, p.y + 44, p.w - 84, p.h - 104} }

// drawText writes paragraphs, with line breaks where they are too wide. A paragraph that begins
// with "# " is a heading.
func drawText(c *canvas, markdown string, p place) {
	y := p.y + 26
	for paragraph := range strings.SplitSeq(markdown, "\n\n") {
		size, limit := 12, int(p.w/6.1)
		if heading, ok := strings.CutPrefix(paragraph, "# "); ok {
			paragraph, size = heading, 17
		}
		line := ""
		for word := range strings.FieldsSeq(strings.ReplaceAll(paragraph, "`", "")) {
			if len(line)+len(word) > limit {
				c.text(p.x+10, y, size, ink, "start", line)
				line, y = "", y+15
			}
			line = strings.TrimSpace(line + " " + word)
		}
		c.text(p.x+10, y, size, ink, "start", line)
		y += 21
	}
}

// drawAlarms lists the names of the alarms without their states, because emulators do not evaluate
// alarms.
func drawAlarms(c *canvas, w Widget, p place) {
	c.text(p.x+10, p.y+20, 13, ink, "start", w.Title+" (AWS shows the state of each; emulators do not evaluate alarms)")
	const perRow, height = 5, 16.0
	width, prefix := (p.w-16)/perRow, commonPrefix(w.Alarms)
	for i, name := range w.Alarms {
		x, y := p.x+10+float64(i%perRow)*width, p.y+30+float64(i/perRow)*height
		c.rect(x, y, width-5, height-3, ground, rule)
		c.text(x+5, y+10, 10, ink, "start", strings.TrimPrefix(name, prefix))
	}
}

// commonPrefix returns the longest common beginning of all names.
func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	prefix := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

// legend lists the labels of the lines below a chart, in as many rows as they need. The colors
// begin with number from of the palette.
func legend(c *canvas, all []series, p place, from int) {
	x, y := p.x-30, p.y+p.h+34
	for i, s := range all {
		width := float64(len(s.label))*6.2 + 26
		if x+width > p.x+p.w+40 {
			x, y = p.x-30, y+14
		}
		c.rect(x, y-8, 9, 9, palette(from+i), "none")
		c.text(x+13, y, 11, ink, "start", s.label)
		x += width
	}
}
