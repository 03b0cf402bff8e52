package scale

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// Settings are the settings of a stack with an effect on its throughput.
type Settings struct {
	Sources    []Source
	Throttles  map[string]float64 // requests per second, by route
	WriteUnits float64            // warm throughput of the table per second
	ReadUnits  float64
}

// Source is an event source: a queue before a function.
type Source struct {
	Queue, Function string // names of the constructs
	Batch           float64
	Concurrency     float64
}

// Routes of posts.
const (
	RouteEvents = "POST /v1/tenants/{tenant}/events"
	RouteBatch  = "POST /v1/tenants/{tenant}/events/batch"
)

// A new on-demand table has this throughput.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
const (
	newWriteUnits = 4_000
	newReadUnits  = 12_000
)

// construct matches the name of a construct in a logical id: CDK appends a hash of
// eight digits.
var construct = regexp.MustCompile(`^(.+)[0-9A-F]{8}$`)

// ReadTemplate reads the settings from a template in JSON.
func ReadTemplate(b []byte) (Settings, error) {
	var t struct {
		Resources map[string]struct {
			Type       string          `json:"Type"`
			Properties json.RawMessage `json:"Properties"`
		} `json:"Resources"`
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return Settings{}, fmt.Errorf("read the template: %w", err)
	}
	s := Settings{Throttles: map[string]float64{}, WriteUnits: newWriteUnits, ReadUnits: newReadUnits}
	for id, r := range t.Resources {
		if err := s.read(r.Type, r.Properties); err != nil {
			return Settings{}, fmt.Errorf("read %s of the template: %w", id, err)
		}
	}
	slices.SortFunc(s.Sources, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.Concurrency, a.Concurrency), cmp.Compare(a.Queue, b.Queue))
	})
	if _, err := s.source("Live"); err != nil || s.Throttles[RouteEvents] == 0 || s.Throttles[RouteBatch] == 0 {
		return Settings{}, fmt.Errorf("read the template: it lacks the queue Live or the throttles of posts: %+v", s)
	}
	return s, nil
}

// read reads one resource.
func (s *Settings) read(kind string, properties json.RawMessage) error {
	switch kind {
	case "AWS::Lambda::EventSourceMapping":
		return s.readSource(properties)
	case "AWS::ApiGatewayV2::Stage":
		var p struct {
			RouteSettings map[string]struct {
				ThrottlingRateLimit float64 `json:"ThrottlingRateLimit"`
			} `json:"RouteSettings"`
		}
		err := json.Unmarshal(properties, &p)
		for route, settings := range p.RouteSettings {
			s.Throttles[route] = settings.ThrottlingRateLimit
		}
		return err
	case "AWS::DynamoDB::GlobalTable":
		var p struct {
			WarmThroughput *struct {
				ReadUnitsPerSecond  float64 `json:"ReadUnitsPerSecond"`
				WriteUnitsPerSecond float64 `json:"WriteUnitsPerSecond"`
			} `json:"WarmThroughput"`
		}
		err := json.Unmarshal(properties, &p)
		if warm := p.WarmThroughput; warm != nil {
			s.ReadUnits, s.WriteUnits = warm.ReadUnitsPerSecond, warm.WriteUnitsPerSecond
		}
		return err
	}
	return nil
}

func (s *Settings) readSource(properties json.RawMessage) error {
	var p struct {
		BatchSize      float64 `json:"BatchSize"`
		EventSourceArn struct {
			GetAtt []string `json:"Fn::GetAtt"`
		} `json:"EventSourceArn"`
		FunctionName struct {
			Ref string `json:"Ref"`
		} `json:"FunctionName"`
		ScalingConfig struct {
			MaximumConcurrency float64 `json:"MaximumConcurrency"`
		} `json:"ScalingConfig"`
	}
	if err := json.Unmarshal(properties, &p); err != nil {
		return err
	}
	if len(p.EventSourceArn.GetAtt) == 2 && p.EventSourceArn.GetAtt[1] == "StreamArn" {
		return nil // off the path: the breaker looks at what was stored minutes ago
	}
	if len(p.EventSourceArn.GetAtt) == 0 || p.BatchSize == 0 || p.ScalingConfig.MaximumConcurrency == 0 {
		return fmt.Errorf("no queue, batch size or concurrency in %s", properties)
	}
	s.Sources = append(s.Sources, Source{
		Queue:       construct.ReplaceAllString(p.EventSourceArn.GetAtt[0], "$1"),
		Function:    construct.ReplaceAllString(p.FunctionName.Ref, "$1"),
		Batch:       p.BatchSize,
		Concurrency: p.ScalingConfig.MaximumConcurrency,
	})
	return nil
}

// source returns the event source of the queue.
func (s *Settings) source(queue string) (Source, error) {
	for _, source := range s.Sources {
		if source.Queue == queue {
			return source, nil
		}
	}
	return Source{}, fmt.Errorf("no event source of the queue %s", queue)
}

// concurrency is the sum of the event sources, of one function or, for "", of all.
func (s *Settings) concurrency(function string) float64 {
	sum := 0.0
	for _, source := range s.Sources {
		if function == "" || source.Function == function {
			sum += source.Concurrency
		}
	}
	return sum
}

// attempts returns the attempts that deliver makes at the same time, at most.
func (s *Settings) attempts() float64 {
	sum := 0.0
	for _, source := range s.Sources {
		if source.Function == "Deliver" {
			sum += source.Concurrency * source.Batch
		}
	}
	return sum
}
