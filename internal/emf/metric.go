package emf

import (
	"log/slog"
	"strconv"
	"time"

	"surehook/internal/hook"
	"surehook/internal/names"
)

// Metric is a value of a metric, or several. The zero Metric is none.
type Metric struct {
	name   string
	unit   unit
	values []int64
	by     []Dimension
}

// unit is a unit of CloudWatch.
type unit string

const (
	count        unit = "Count"
	milliseconds unit = "Milliseconds"
)

// Count is so many of something that happened. None is not worth a metric: the
// zero Metric, as with an n below 0.
func Count(name string, n int) Metric {
	if n <= 0 {
		return Metric{}
	}
	return Metric{name: name, unit: count, values: []int64{int64(n)}}
}

// Gauge is how many there are of something now, none included.
func Gauge(name string, n int) Metric {
	return Metric{name: name, unit: count, values: []int64{int64(n)}}
}

// maxValues is how many values a metric of one line may have.
const maxValues = 100

// Milliseconds is how long things took, each in whole milliseconds: the first
// 100 of them; of none it is the zero Metric. Clocks of two machines can make
// one less than nothing; it is nothing then.
func Milliseconds(name string, ds ...time.Duration) Metric {
	if len(ds) == 0 {
		return Metric{}
	}
	m := Metric{name: name, unit: milliseconds}
	for _, d := range ds[:min(len(ds), maxValues)] {
		m.values = append(m.values, max(d, 0).Milliseconds())
	}
	return m
}

// By returns the metric told apart by each of the dimensions as well: once by
// all there is, the environment, and once by the environment and each of them.
// They are not combined with each other, and a line has one of a kind for all its metrics.
func (m Metric) By(ds ...Dimension) Metric {
	m.by = ds
	return m
}

// Dimension is what values of a metric are told apart by. Outcome and Number
// are all there are. The zero Dimension is none.
type Dimension struct{ name, value string }

// Outcome is the class of an attempt.
func Outcome(c hook.Class) Dimension { return Dimension{names.MetricOutcome, c.String()} }

// Number is the number of an attempt, 1 to hook.MaxAttempts; any other is the nearest.
func Number(n int) Dimension {
	return Dimension{names.MetricNumber, strconv.Itoa(min(max(n, 1), hook.MaxAttempts))}
}

// attr returns the member of the line that holds the values.
func (m Metric) attr() slog.Attr {
	if len(m.values) == 1 {
		return slog.Int64(m.name, m.values[0])
	}
	return slog.Any(m.name, m.values)
}

func (d Dimension) attr() slog.Attr { return slog.String(d.name, d.value) }
