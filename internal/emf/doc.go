// Package emf adds metrics to log lines. CloudWatch extracts the metrics from the
// lines by the Embedded Metric Format (EMF). So a metric costs no API call, and is
// not lost once it is logged. The package knows neither the measured values nor the
// logger.
//
// # The line
//
// A line with metrics has a member _aws, which names the members with metrics and those
// with dimensions:
//
//	{"level":"INFO","message":"delivery.attempted","outcome":"timeout","duration_ms":912,...,
//	 "_aws":{"Timestamp":1772627820000,"CloudWatchMetrics":[
//	   {"Namespace":"Surehook","Dimensions":[["environment"]],"Metrics":[{"Name":"duration_ms","Unit":"Milliseconds"}]},
//	   {"Namespace":"Surehook","Dimensions":[["environment"],["environment","outcome"]],"Metrics":[{"Name":"attempts","Unit":"Count"}]}]},
//	 "environment":"prod","attempts":1}
//
// # Dimensions
//
// Each set of dimensions applies to every metric of the directive, and AWS charges
// for each metric and each value of a dimension. So a metric with additional
// dimensions has a separate directive. Only this package creates dimensions, and
// every dimension has few values: no dimension is a tenant or an endpoint.
//
// # Conditions
//
// CloudWatch ignores metrics below the root of a line, and lines that are not JSON. So
// the logger must have a JSON handler and no open group. If a line is below the logger's
// level, its metrics are lost, too.
//
// Specification:
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package emf
