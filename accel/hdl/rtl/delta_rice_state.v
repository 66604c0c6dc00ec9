// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One word of state for each channel, which may be read, changed and written back in every clock.
//
// The word of `read_channel` is requested one clock before it is used, as block RAMs require. A
// word that is written in that same clock is forwarded, so the samples of a channel may follow each
// other without a gap. With one channel this is a register.

`default_nettype none

module delta_rice_state #(
    parameter WIDTH = 16,
    parameter CHANNELS = 1,
    parameter CHANNEL_WIDTH = 1
) (
    input  wire                     clk,
    input  wire                     enable,         // low: everything keeps its value
    input  wire [CHANNEL_WIDTH-1:0] read_channel,
    output wire [WIDTH-1:0]         state,          // of the channel in read_channel one clock before
    input  wire                     write,
    input  wire [CHANNEL_WIDTH-1:0] write_channel,
    input  wire [WIDTH-1:0]         next_state
);

    generate
        if (CHANNELS == 1) begin : g_register
            reg [WIDTH-1:0] value;
            always @(posedge clk)
                if (enable && write)
                    value <= next_state;
            assign state = value;
        end else begin : g_memory
            reg [WIDTH-1:0] memory [0:CHANNELS-1];
            reg [WIDTH-1:0] read_data;
            reg [WIDTH-1:0] forwarded;
            reg             forward;
            always @(posedge clk)
                if (enable) begin
                    read_data <= memory[read_channel];
                    forwarded <= next_state;
                    forward   <= write && write_channel == read_channel;
                    if (write)
                        memory[write_channel] <= next_state;
                end
            assign state = forward ? forwarded : read_data;
        end
    endgenerate

endmodule

`default_nettype wire
