package picture

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// step divides the time axis. The dashboard's periods are one or five minutes,
// and a run takes minutes, not hours.
const step = 10 * time.Second

// longPeriod is the limit for shorter steps. From longPeriod on, each value
// covers its whole period.
const longPeriod = 15 * time.Minute

// series is one line of a chart. NaN marks a step without a value.
type series struct {
	label  string
	values []float64
}

func (s series) empty() bool { return !slices.ContainsFunc(s.values, known) }

func (s series) last() float64 {
	for _, value := range slices.Backward(s.values) {
		if known(value) {
			return value
		}
	}
	return math.NaN()
}

func known(x float64) bool { return !math.IsNaN(x) }

// steps returns the number of steps between the first and the last value.
func (v *Values) steps() int { return int(v.To.Sub(v.From)/step) + 1 }

// allSeries returns the series of the metrics with values.
func (v *Values) allSeries(ms []Metric) []series {
	var all []series
	for _, m := range ms {
		if s := v.series(m); !s.empty() {
			all = append(all, s)
		}
	}
	return all
}

func (v *Values) series(m Metric) series {
	s := series{label: m.Label}
	if m.Expression != "" {
		s.values = v.rate(m)
		return s
	}
	points := v.points[key(m.Namespace, m.Name, m.Dimensions)]
	if len(points) == 0 {
		return s
	}
	for i := range v.steps() {
		end := v.From.Add(time.Duration(i+1) * step)
		s.values = append(s.values, statistic(m.Statistic, within(points, end, window(m.Seconds))))
	}
	return s
}

// window is the time span of one value of the metric, up to the step's end.
func window(period float64) time.Duration {
	if p := time.Duration(period * float64(time.Second)); p > longPeriod {
		return p
	}
	return step
}

func within(points []point, end time.Time, window time.Duration) []float64 {
	var values []float64
	for _, p := range points {
		if p.at.Before(end) && !p.at.Before(end.Add(-window)) {
			values = append(values, p.value)
		}
	}
	return values
}

// statistic aggregates the values of one step. The sum of no values is 0: no
// events.
func statistic(name string, values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	switch {
	case name == "Sum":
		return sum
	case name == "SampleCount":
		return float64(len(values))
	case len(values) == 0:
		return math.NaN()
	case name == "Maximum":
		return slices.Max(values)
	case name == "Minimum":
		return slices.Min(values)
	case strings.HasPrefix(name, "p"):
		return percentile(values, name)
	}
	return sum / float64(len(values))
}

// percentile returns the percentile by nearest rank; name is such as p99.
func percentile(values []float64, name string) float64 {
	p, err := strconv.ParseFloat(name[1:], 64)
	if err != nil {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// rates matches the one supported expression: the percentage of the total
// without one part. The captures are the parts' ids.
var rates = regexp.MustCompile(`^IF\(SUM\(.*\) >= \d+, 100 - 100 \* FILL\((\w+), 0\) / SUM\(\[(\w+), (\w+)\]\), 100\)$`)

func (v *Values) rate(m Metric) []float64 {
	ids := rates.FindStringSubmatch(m.Expression)
	if ids == nil {
		return nil
	}
	part, one, other := v.series(m.Inputs[ids[1]]), v.series(m.Inputs[ids[2]]), v.series(m.Inputs[ids[3]])
	values := make([]float64, v.steps())
	for i := range values {
		values[i] = 100
		if all := at(one, i) + at(other, i); all > 0 {
			values[i] = 100 - 100*at(part, i)/all
		}
	}
	return values
}

// at returns the value of a step, or 0 without a value.
func at(s series, i int) float64 {
	if i < len(s.values) && known(s.values[i]) {
		return s.values[i]
	}
	return 0
}
