-- SPDX-License-Identifier: MIT OR Apache-2.0
--
-- Example: one ADC channel that makes HDF5 chunks of 64 waveforms of 1000 samples. docs/waveforms/fpga.md shows it.

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.delta_rice.all;

entity compressed_channel is
  port (
    clk         : in  std_logic;
    reset_n     : in  std_logic;
    adc_valid   : in  std_logic;
    adc_ready   : out std_logic;
    adc_sample  : in  std_logic_vector(15 downto 0);
    dma_tvalid  : out std_logic;
    dma_tready  : in  std_logic;
    dma_tdata   : out std_logic_vector(31 downto 0);
    dma_tlast   : out std_logic;
    setup_error : out std_logic
  );
end entity;

architecture rtl of compressed_channel is
begin

  compressor : delta_rice_chunk_encoder_axis
    generic map (K => 3, ADDRESS_WIDTH => 10)
    port map (
      aclk                => clk,
      aresetn             => reset_n,
      chunk_samples       => std_logic_vector(to_unsigned(64000, 32)),
      segment_samples     => std_logic_vector(to_unsigned(1000, 32)),
      rice_parameter      => "0000",
      configuration_error => setup_error,
      s_axis_tvalid       => adc_valid,
      s_axis_tready       => adc_ready,
      s_axis_tdata        => adc_sample,
      m_axis_tvalid       => dma_tvalid,
      m_axis_tready       => dma_tready,
      m_axis_tdata        => dma_tdata,
      m_axis_tlast        => dma_tlast
    );

end architecture;
