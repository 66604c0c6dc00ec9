-- SPDX-License-Identifier: MIT OR Apache-2.0
--
-- Components of the Delta-Rice cores, for designs in VHDL. rtl/NAME.v documents each of them.

library ieee;
use ieee.std_logic_1164.all;

package delta_rice is

  component delta_rice_encoder is
    generic (
      K           : natural := 3;
      K_INPUT     : natural := 0;
      DELTA       : natural := 1;
      COUNT_WIDTH : positive := 20
    );
    port (
      clk     : in  std_logic;
      rst     : in  std_logic;
      s_valid : in  std_logic;
      s_ready : out std_logic;
      s_data  : in  std_logic_vector(15 downto 0);
      s_last  : in  std_logic;
      s_k     : in  std_logic_vector(3 downto 0);
      m_valid : out std_logic;
      m_ready : in  std_logic;
      m_data  : out std_logic_vector(31 downto 0);
      m_last  : out std_logic;
      m_count : out std_logic_vector(COUNT_WIDTH-1 downto 0)
    );
  end component;

  component delta_rice_encoder_multi is
    generic (
      K             : natural := 3;
      K_INPUT       : natural := 0;
      DELTA         : natural := 1;
      COUNT_WIDTH   : positive := 20;
      CHANNELS      : positive := 1;
      CHANNEL_WIDTH : positive := 1
    );
    port (
      clk       : in  std_logic;
      rst       : in  std_logic;
      s_valid   : in  std_logic;
      s_ready   : out std_logic;
      s_data    : in  std_logic_vector(15 downto 0);
      s_last    : in  std_logic;
      s_k       : in  std_logic_vector(3 downto 0);
      s_channel : in  std_logic_vector(CHANNEL_WIDTH-1 downto 0);
      m_valid   : out std_logic;
      m_ready   : in  std_logic;
      m_data    : out std_logic_vector(31 downto 0);
      m_last    : out std_logic;
      m_count   : out std_logic_vector(COUNT_WIDTH-1 downto 0);
      m_channel : out std_logic_vector(CHANNEL_WIDTH-1 downto 0)
    );
  end component;

  component delta_rice_encoder_axis is
    generic (
      K           : natural := 3;
      K_INPUT     : natural := 0;
      DELTA       : natural := 1;
      COUNT_WIDTH : positive := 20
    );
    port (
      aclk          : in  std_logic;
      aresetn       : in  std_logic;
      s_axis_tvalid : in  std_logic;
      s_axis_tready : out std_logic;
      s_axis_tdata  : in  std_logic_vector(15 downto 0);
      s_axis_tlast  : in  std_logic;
      s_axis_tuser  : in  std_logic_vector(3 downto 0);
      m_axis_tvalid : out std_logic;
      m_axis_tready : in  std_logic;
      m_axis_tdata  : out std_logic_vector(31 downto 0);
      m_axis_tlast  : out std_logic;
      m_axis_tuser  : out std_logic_vector(COUNT_WIDTH-1 downto 0)
    );
  end component;

  component delta_rice_chunk_encoder_axis is
    generic (
      K             : natural := 3;
      K_INPUT       : natural := 0;
      DELTA         : natural := 1;
      ADDRESS_WIDTH : positive := 13
    );
    port (
      aclk                : in  std_logic;
      aresetn             : in  std_logic;
      chunk_samples       : in  std_logic_vector(31 downto 0);
      segment_samples     : in  std_logic_vector(31 downto 0);
      rice_parameter      : in  std_logic_vector(3 downto 0);
      configuration_error : out std_logic;
      s_axis_tvalid       : in  std_logic;
      s_axis_tready       : out std_logic;
      s_axis_tdata        : in  std_logic_vector(15 downto 0);
      m_axis_tvalid       : out std_logic;
      m_axis_tready       : in  std_logic;
      m_axis_tdata        : out std_logic_vector(31 downto 0);
      m_axis_tlast        : out std_logic
    );
  end component;

  component delta_rice_decoder is
    generic (
      K             : natural := 3;
      K_INPUT       : natural := 0;
      DELTA         : natural := 1;
      SAMPLES_WIDTH : positive := 24
    );
    port (
      clk       : in  std_logic;
      rst       : in  std_logic;
      s_valid   : in  std_logic;
      s_ready   : out std_logic;
      s_data    : in  std_logic_vector(31 downto 0);
      s_last    : in  std_logic;
      s_error   : in  std_logic;
      s_samples : in  std_logic_vector(SAMPLES_WIDTH-1 downto 0);
      s_k       : in  std_logic_vector(3 downto 0);
      m_valid   : out std_logic;
      m_ready   : in  std_logic;
      m_data    : out std_logic_vector(15 downto 0);
      m_last    : out std_logic;
      m_error   : out std_logic;
      idle      : out std_logic
    );
  end component;

  component delta_rice_chunk_decoder_axis is
    generic (
      K       : natural := 3;
      K_INPUT : natural := 0;
      DELTA   : natural := 1
    );
    port (
      aclk            : in  std_logic;
      aresetn         : in  std_logic;
      segment_samples : in  std_logic_vector(31 downto 0);
      rice_parameter  : in  std_logic_vector(3 downto 0);
      s_axis_tvalid   : in  std_logic;
      s_axis_tready   : out std_logic;
      s_axis_tdata    : in  std_logic_vector(31 downto 0);
      s_axis_tlast    : in  std_logic;
      m_axis_tvalid   : out std_logic;
      m_axis_tready   : in  std_logic;
      m_axis_tdata    : out std_logic_vector(15 downto 0);
      m_axis_tlast    : out std_logic;
      m_axis_tuser    : out std_logic_vector(1 downto 0)
    );
  end component;

end package;
