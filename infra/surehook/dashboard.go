package surehook

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Widget is one picture of the dashboard.
type Widget struct {
	Title string
	Width int // of 24 columns
	// Left and Right are the metrics at either axis.
	Left, Right []awscloudwatch.IMetric
	// Unit is written at the left axis.
	Unit string
	View View
	// Limit is drawn as a line where an alarm goes off; 0 for none.
	Limit float64
}

// View is how a widget shows its metrics.
type View int

// The views. A graph of lines is the most of them.
const (
	ViewLines   View = iota
	ViewStacked      // lines that add up
	ViewBars         // a bar for each metric, over the whole time shown
	ViewNumbers      // the latest values
)

// Rows of the dashboard, in grid units.
const (
	graphHeight  = 6
	numberHeight = 3
	statusHeight = 4
)

// newDashboard makes the dashboard: below the alarms, the widgets as they are.
func newDashboard(scope constructs.Construct, p MonitorProps, alarms []awscloudwatch.Alarm) awscloudwatch.Dashboard {
	dashboard := awscloudwatch.NewDashboard(scope, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: &p.Prefix,
		Start:         jsii.String("-PT3H"),
	})
	dashboard.AddWidgets(status(p, alarms)...)
	for _, row := range Widgets(p) {
		var made []awscloudwatch.IWidget
		for _, w := range row {
			made = append(made, w.render())
		}
		dashboard.AddWidgets(made...)
	}
	return dashboard
}

// status is the first row: what is wrong now, and where to read on.
func status(p MonitorProps, alarms []awscloudwatch.Alarm) []awscloudwatch.IWidget {
	text := strings.Join([]string{
		"# Surehook " + p.Environment.Name,
		"Read from the top: what waits and what died, how long deliveries take, what endpoints answer, then our own parts.",
		"Each alarm says what to do first; more is in `" + strings.TrimSuffix(runbook, "#") + "`. The saved queries `" + p.Prefix + "/…` of Logs Insights tell why a delivery was not delivered.",
	}, "\n\n")
	refs := make([]interfacesawscloudwatch.IAlarmRef, len(alarms))
	for i, a := range alarms {
		refs[i] = a
	}
	return []awscloudwatch.IWidget{
		awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{Markdown: &text, Width: number(8), Height: number(statusHeight)}),
		awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
			Title: jsii.String("Alarms"), Alarms: &refs, Width: number(16), Height: number(statusHeight),
			SortBy: awscloudwatch.AlarmStatusWidgetSortBy_STATE_UPDATED_TIMESTAMP,
		}),
	}
}

// render makes the widget CDK's.
func (w Widget) render() awscloudwatch.IWidget {
	if w.View == ViewNumbers {
		return awscloudwatch.NewSingleValueWidget(&awscloudwatch.SingleValueWidgetProps{
			Title: &w.Title, Metrics: &w.Left, Width: number(w.Width), Height: number(numberHeight),
		})
	}
	props := awscloudwatch.GraphWidgetProps{
		Title: &w.Title, Left: &w.Left, Width: number(w.Width), Height: number(graphHeight),
		// Nothing here is below zero, and a graph that begins elsewhere makes noise look like trouble.
		LeftYAxis: &awscloudwatch.YAxisProps{Min: number(0), Label: &w.Unit, ShowUnits: jsii.Bool(false)},
		Stacked:   jsii.Bool(w.View == ViewStacked),
	}
	if len(w.Right) > 0 {
		props.Right = &w.Right
		props.RightYAxis = &awscloudwatch.YAxisProps{Min: number(0), ShowUnits: jsii.Bool(false)}
	}
	if w.View == ViewBars {
		props.View = awscloudwatch.GraphWidgetView_BAR
		props.SetPeriodToTimeRange = jsii.Bool(true)
	}
	if w.Limit > 0 {
		props.LeftAnnotations = &[]*awscloudwatch.HorizontalAnnotation{{Value: &w.Limit, Label: jsii.String("alarm"), Color: awscloudwatch.Color_RED()}}
	}
	return awscloudwatch.NewGraphWidget(&props)
}
