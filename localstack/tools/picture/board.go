package picture

import (
	"encoding/json"
	"fmt"
)

// Board is a dashboard.
type Board struct {
	Widgets []Widget
}

// Widget is one widget on a grid of 24 columns.
type Widget struct {
	X, Y, Width, Height int

	Kind     string // text, alarm or metric
	Title    string
	Markdown string   // of a text
	Alarms   []string // by name

	View        string // of metrics: timeSeries, bar or singleValue
	Stacked     bool
	Unit        string // at the left axis
	Limit       float64
	Left, Right []Metric
}

// Metric is a line of a widget.
type Metric struct {
	Namespace, Name string
	Dimensions      map[string]string
	Label           string
	Statistic       string  // Sum, Maximum, SampleCount, p50, ...
	Seconds         float64 // the period

	// Expression is calculated from the widget's metrics by their ids.
	Expression string
	Inputs     map[string]Metric
}

// ReadBoard reads the dashboard from a synthesised CloudFormation template. CloudFormation
// generates the names of the queues: queues has them by logical id. A queue without an
// entry keeps the form ${Id.QueueName}.
func ReadBoard(raw []byte, queues map[string]string) (Board, error) {
	t, err := parseTemplate(raw)
	if err != nil {
		return Board{}, err
	}
	for id, name := range queues {
		if r, ok := t.Resources[id]; ok {
			r.Properties["QueueName"] = name
		}
	}
	source, err := t.dashboard()
	if err != nil {
		return Board{}, err
	}
	var body struct {
		Widgets []rawWidget `json:"widgets"`
	}
	if err := json.Unmarshal(source, &body); err != nil {
		return Board{}, fmt.Errorf("read the dashboard's body: %w", err)
	}
	var b Board
	for _, w := range body.Widgets {
		made, err := w.widget()
		if err != nil {
			return Board{}, fmt.Errorf("read the widget %q: %w", w.Properties.Title, err)
		}
		b.Widgets = append(b.Widgets, made)
	}
	return b, nil
}

// rawWidget is CloudWatch's form of a widget.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
type rawWidget struct {
	Type       string `json:"type"`
	X          int    `json:"x"`
	Y          int    `json:"y"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Properties struct {
		Title    string              `json:"title"`
		Markdown string              `json:"markdown"`
		View     string              `json:"view"`
		Stacked  bool                `json:"stacked"`
		Alarms   []string            `json:"alarms"`
		Metrics  [][]json.RawMessage `json:"metrics"`
		YAxis    struct {
			Left struct {
				Label string `json:"label"`
			} `json:"left"`
		} `json:"yAxis"`
		Annotations struct {
			Horizontal []struct {
				Value float64 `json:"value"`
			} `json:"horizontal"`
		} `json:"annotations"`
	} `json:"properties"`
}

func (r rawWidget) widget() (Widget, error) {
	p := r.Properties
	w := Widget{
		X: r.X, Y: r.Y, Width: r.Width, Height: r.Height, Kind: r.Type, Title: p.Title, Markdown: p.Markdown,
		Alarms: p.Alarms, View: p.View, Stacked: p.Stacked, Unit: p.YAxis.Left.Label,
	}
	if len(p.Annotations.Horizontal) > 0 {
		w.Limit = p.Annotations.Horizontal[0].Value
	}
	inputs := map[string]Metric{}
	for _, raw := range p.Metrics {
		m, options, err := readMetric(raw)
		if err != nil {
			return Widget{}, err
		}
		m.Inputs = inputs // all metrics, after the loop
		if options.ID != "" {
			inputs[options.ID] = m
		}
		switch {
		case options.Visible != nil && !*options.Visible:
		case options.YAxis == "right":
			w.Right = append(w.Right, m)
		default:
			w.Left = append(w.Left, m)
		}
	}
	return w, nil
}

// options is the object at the end of a metric's array.
type options struct {
	Label      string  `json:"label"`
	Stat       string  `json:"stat"`
	Expression string  `json:"expression"`
	ID         string  `json:"id"`
	YAxis      string  `json:"yAxis"`
	Period     float64 `json:"period"` // seconds
	Visible    *bool   `json:"visible"`
}

// defaultPeriod is a metric's period without an explicit period, in seconds.
const defaultPeriod = 300

// readMetric reads a metric's array: namespace, name, pairs of dimension names
// and values, then options. An expression has options only.
func readMetric(raw []json.RawMessage) (m Metric, o options, err error) {
	var words []string
	for _, part := range raw {
		var word string
		if json.Unmarshal(part, &word) == nil {
			words = append(words, word)
			continue
		}
		if err := json.Unmarshal(part, &o); err != nil {
			return Metric{}, o, fmt.Errorf("read a metric's options: %w", err)
		}
	}
	m = Metric{Label: o.Label, Statistic: o.Stat, Seconds: o.Period, Expression: o.Expression, Dimensions: map[string]string{}}
	if m.Seconds == 0 {
		m.Seconds = defaultPeriod
	}
	if m.Statistic == "" {
		m.Statistic = "Average"
	}
	if len(words) >= 2 {
		m.Namespace, m.Name = words[0], words[1]
		for i := 2; i+1 < len(words); i += 2 {
			m.Dimensions[words[i]] = words[i+1]
		}
	}
	if m.Label == "" {
		m.Label = m.Name
	}
	return m, o, nil
}
