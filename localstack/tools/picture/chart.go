package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// drawLines draws lines over time. The right axis has its own scale.
func drawLines(c *canvas, v *Values, w Widget, p place) {
	left, right := v.allSeries(w.Left), v.allSeries(w.Right)
	scale := left
	if w.Stacked {
		scale = []series{total(left)}
	}
	top := ceiling(append([]series{{values: []float64{limitWithin(w.Limit, scale)}}}, scale...))
	axes(c, v, p, top, w.Unit)
	if w.Limit > 0 && w.Limit <= top {
		y := p.y + p.h*(1-w.Limit/top)
		c.line(p.x, y, p.x+p.w, y, alarmed, ` stroke-dasharray="4 3"`)
		c.text(p.x+p.w, y-4, 10, alarmed, "end", "alarm")
	}
	if w.Stacked {
		drawStack(c, left, p, top)
	} else {
		for i, s := range left {
			polyline(c, s, p, top, palette(i), "")
		}
	}
	if len(right) > 0 {
		high := ceiling(right)
		for i, s := range right {
			polyline(c, s, p, high, palette(len(left)+i), ` stroke-dasharray="6 2"`)
		}
		for n := range 3 {
			share := float64(n) / 2
			c.text(p.x+p.w+6, p.y+p.h*(1-share)+4, 10, faint, "start", figure(high*share))
		}
	}
	legend(c, append(left, right...), p, 0)
}

// limitWithin returns a limit near the values for the picture. A limit far
// above the values would flatten the lines.
func limitWithin(limit float64, all []series) float64 {
	if limit <= 4*highest(all) {
		return limit
	}
	return 0
}

// axes draws three horizontal rules with figures, and the time axis.
func axes(c *canvas, v *Values, p place, top float64, unit string) {
	for n := range 3 {
		share := float64(n) / 2
		y := p.y + p.h*(1-share)
		c.line(p.x, y, p.x+p.w, y, rule, "")
		c.text(p.x-6, y+4, 10, faint, "end", figure(top*share))
	}
	c.text(p.x-30, p.y-10, 10, faint, "start", unit)
	run := time.Duration(v.steps()) * step
	for n := range 5 {
		share := float64(n) / 4
		c.text(p.x+p.w*share, p.y+p.h+15, 10, faint, "middle", clock(time.Duration(share*float64(run))))
	}
}

// clock formats a time since the beginning in minutes and seconds.
func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func polyline(c *canvas, s series, p place, top float64, colour, more string) {
	var points []string
	for i, value := range s.values {
		if known(value) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", p.x+p.w*share(i, len(s.values)), p.y+p.h*(1-value/top)))
		}
	}
	if len(points) == 1 { // a line of one point is invisible
		points = append(points, points[0])
	}
	c.add(`<polyline fill="none" stroke="%s" stroke-width="1.6" stroke-linecap="round"%s points="%s"/>`, colour, more, strings.Join(points, " "))
}

// drawStack draws stacked areas.
func drawStack(c *canvas, all []series, p place, top float64) {
	below := make([]float64, len(total(all).values))
	for i, s := range all {
		var up, down []string
		for n := range below {
			x := p.x + p.w*share(n, len(below))
			down = append([]string{fmt.Sprintf("%.1f,%.1f", x, p.y+p.h*(1-below[n]/top))}, down...)
			below[n] += at(s, n)
			up = append(up, fmt.Sprintf("%.1f,%.1f", x, p.y+p.h*(1-below[n]/top)))
		}
		c.add(`<polygon fill="%s" fill-opacity="0.75" points="%s"/>`, palette(i), strings.Join(append(up, down...), " "))
	}
}

// share is the position of the step on the axis.
func share(i, steps int) float64 { return (float64(i) + 0.5) / float64(steps) }

// total adds the series step by step.
func total(all []series) series {
	var sum series
	for _, s := range all {
		for i := range s.values {
			if i == len(sum.values) {
				sum.values = append(sum.values, 0)
			}
			sum.values[i] += at(s, i)
		}
	}
	return sum
}

func highest(all []series) float64 {
	high := 0.0
	for _, s := range all {
		for i := range s.values {
			high = max(high, at(s, i))
		}
	}
	return high
}

// ceiling rounds the highest value up to a small multiple of a power of ten.
// Without a value above 0, ceiling returns 1.
func ceiling(all []series) float64 {
	high := highest(all)
	if high <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(high)))
	for _, m := range []float64{1, 1.5, 2, 3, 4, 6, 8} {
		if high <= m*power {
			return round(m * power)
		}
	}
	return round(10 * power)
}

// round removes floating-point errors of powers of ten.
func round(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}
